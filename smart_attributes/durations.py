"""Durations in seconds, and the letters that people write behind their numbers."""
MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MONTH = 30 * DAY
YEAR = 365.25 * DAY
LETTERS = {'m': MINUTE, 'h': HOUR, 'd': DAY, 'w': 7 * DAY, 'y': YEAR}

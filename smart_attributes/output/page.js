'use strict';
// The list of drives: sorted, filtered and drawn a screenful at a time. Whatever a drive says goes in as text, never as HTML.
(function () {
  const byId = (id) => document.getElementById(id);
  const RANK = {CRITICAL: 0, UNKNOWN: 1, WARNING: 2, OK: 3}, PAGE = 100, DAY = 86400, YEAR = 365.25 * DAY;
  const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  const LASTING = {endurance_used: 'endurance', spare_available: 'spare'};
  const FAR = 10 * YEAR;  // a date beyond is no plan
  const SHORTENED = 60;  // characters of a reading's source
  const LEAST = 220, WIDEST = 320, PADDING = 20;  // pixels: of What to do, of the longest names, and beside them

  const data = JSON.parse(byId('data').textContent);
  data.drives.forEach((drive, place) => {
    drive.place = place;
    drive.past = drive.past || {};
    for (const points of Object.values(drive.past)) points.sort(([earlier], [later]) => earlier - later);
    drive.text = [drive.host, drive.name, drive.device, drive.model, drive.serial, drive.firmware, drive.why, drive.reason, drive.state, drive.to_do,
      drive.bay, drive.code, ...(drive.handling || []), ...drive.notes.flatMap((note) => [note.code, note.text]), ...(drive.depends || []).map((each) => each.text)].filter(Boolean).join(' ').toLowerCase();
  });

  const reading = (drive, metric) => drive.readings.find((each) => each.metric === metric && each.judged && each.value !== null);
  const number = (drive, metric) => { const found = reading(drive, metric); return found && typeof found.value === 'number' ? found.value : undefined; };

  // --- how things are said ---
  const readable = (metric) => metric.replaceAll('_', ' ');
  const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const plain = (value) => String(Number(value.toFixed(Math.abs(value) < 1 ? 6 : 2)));
  function size(bytes) {
    let power = 0;
    while (bytes >= 999.5 && power < SIZES.length - 1) { bytes /= 1000; power += 1; }
    return Number(bytes.toPrecision(3)) + ' ' + SIZES[power];
  }
  function time(seconds) {
    const hours = seconds / 3600;
    if (hours < 1) return plain(seconds) + ' s';
    return Math.round(hours).toLocaleString('en') + ' h' + (seconds < YEAR / 2 ? '' : ' (' + (seconds / YEAR).toFixed(1) + ' y)');
  }
  function amount(value, unit) {
    if (value === null || value === undefined) return 'unknown';
    if (typeof value === 'string') return value;
    if (unit === 's') return time(value);
    if (unit === 'B') return size(value);
    return unit ? plain(value) + (unit === 'C' ? ' °C' : ' ' + unit) : value.toLocaleString('en');
  }
  function told(each) {
    if (!each.said) return amount(each.value, each.unit);
    return each.said.startsWith(each.metric) ? each.said.slice(each.metric.length).replace(/^:? /, '') : each.said;
  }
  // A Nagios range as a person says it: "85" is above 85, "16:" below 16.
  function limit(range, unit) {
    const found = /^(-?[0-9.]+)(:?)$/.exec(range || '');
    if (!found) return range;
    const number = Number(found[1]), days = unit === 's' && number >= DAY && number % DAY === 0;  // as somebody has written it: 30d
    return (found[2] ? 'below ' : 'above ') + (days ? plain(number / DAY) + (number === DAY ? ' day' : ' days') : amount(number, unit));
  }
  const day = (seconds) => new Date((data.made + seconds) * 1000).toISOString().slice(0, 10);
  // A forecast of an old report may be past, but only one without a range is of a drive that is used up.
  const isUsedUp = (forecast) => forecast.left <= 0 && forecast.earliest === forecast.latest;
  function between(forecast) {
    if (isUsedUp(forecast)) return 'used up';
    if (forecast.earliest === undefined) return day(forecast.left);
    return (forecast.estimate ? 'about ' : '') + day(forecast.left) + ', between ' + day(forecast.earliest) + ' and ' + day(forecast.latest)
      + (forecast.estimate ? ' (estimated only from use and age)' : '');
  }
  const soonest = (drive) => Object.values(drive.forecasts || {}).sort((one, other) => one.left - other.left)[0];
  function until(drive) {
    const forecast = soonest(drive);
    if (!forecast) return '';
    if (forecast.left > FAR) return 'over 10 y';
    return isUsedUp(forecast) ? 'used up' : (forecast.estimate ? '~ ' : '') + day(forecast.left).slice(0, forecast.left > YEAR ? 7 : 10);
  }
  function written(drive) {
    const host = number(drive, 'host_written'), rated = number(drive, 'rated_written');
    return host === undefined ? '' : size(host) + (rated ? ' of ' + size(rated) : '');
  }

  // --- elements ---
  function element(name, text, attributes) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    for (const key in attributes || {}) made.setAttribute(key, attributes[key]);
    return made;
  }
  // A name that is preferably broken after its dots and dashes.
  function breakable(text) {
    const made = document.createDocumentFragment();
    (text.match(/[^._-]*[._-]|[^._-]+/g) || []).forEach((part, place) => made.append(...(place ? [element('wbr')] : []), part));
    return made;
  }
  function bar(drive) {
    const found = reading(drive, 'endurance_used'), cell = document.createDocumentFragment();
    if (!found || typeof found.value !== 'number') return cell;
    const box = element('span', null, {'class': 'bar ' + found.state, 'aria-hidden': 'true'}), inner = element('i');
    inner.style.width = Math.max(0, Math.min(found.value, 100)) + '%';
    box.append(inner);
    cell.append(box, amount(found.value, '%'));
    return cell;
  }
  function model(drive) {
    const cell = document.createDocumentFragment();
    for (const key of ['model', 'serial']) {
      if (!drive[key]) continue;
      const part = element('span', null, {'class': key + '-name'});
      part.append(breakable(drive[key]));
      cell.append(part);
    }
    return cell;
  }
  function what(drive) {
    const cell = document.createDocumentFragment(), reason = drive.reason || drive.why;
    if (drive.action && drive.action !== 'nothing') cell.append(element('strong', upper(drive.to_do || drive.action)));
    for (const each of drive.also || []) cell.append(element('span', 'Also ' + each.to_do));
    if (reason) cell.append(element('span', (drive.code ? '[' + drive.code + '] ' : '') + reason));
    if (drive.not_known && !drive.depends) cell.append(element('span', upper(drive.not_known)));
    if (drive.handling) cell.append(element('span', drive.handling.join(', '), {'class': 'handling'}));
    return cell;
  }
  const told_of = (metric) => (drive) => { const found = reading(drive, metric); return found ? amount(found.value, found.unit) : ''; };
  const age = (drive) => { const seconds = number(drive, 'power_on_time'); return seconds === undefined ? '' : (seconds / YEAR).toFixed(1) + ' y'; };

  // key, title, what is sorted by, what is shown, class, first direction
  const COLUMNS = [
    ['state', 'State', (d) => RANK[d.state], (d) => d.state, 'state', 1],
    ['host', 'Host', (d) => d.host, (d) => breakable(d.host || ''), 'host', 1],
    ['name', 'Drive', (d) => d.name || d.device, null, 'name', 1],
    ['bay', 'Bay', (d) => d.bay, (d) => d.bay || '', 'bay', 1],
    ['what', 'What to do', (d) => (d.why && d.action) || (d.handling && 'nothing') || undefined, what, 'what', 1],
    ['model', 'Model, serial', (d) => d.model || d.serial, model, 'model', 1],
    ['used', 'Used', (d) => number(d, 'endurance_used'), bar, 'used', -1],
    ['until', 'Worn out', (d) => { const f = soonest(d); return f ? f.left : undefined; }, until, 'right until', 1],
    ['spare', 'Spare', (d) => number(d, 'spare_available'), told_of('spare_available'), 'right spare', 1],
    ['temperature', 'Temp.', (d) => number(d, 'temperature'), told_of('temperature'), 'right temperature', -1],
    ['age', 'Age', (d) => number(d, 'power_on_time'), age, 'right age', -1],
    ['written', 'Written', (d) => number(d, 'host_written'), written, 'right written', -1],
  ].filter(([key, , value]) => key === 'state' || key === 'name' || data.drives.some((drive) => value(drive) !== undefined));

  // columns of names: their texts of a drive, and the weight of their font
  const NAMES = {host: [(d) => [d.host], 400], name: [(d) => [d.name || d.device], 400], bay: [(d) => [d.bay], 600], model: [(d) => [d.model, d.serial], 400]};

  // --- the table ---
  let order = ['', 1],  // '': the order of the work list
     found = [], drawn = 0, only = null;

  function head() {
    for (const [key, title, , , kind, direction] of COLUMNS) {
      const cell = element('th', null, {scope: 'col', 'data-key': key, 'class': kind}), button = element('button', title, {type: 'button'});
      button.addEventListener('click', () => { order = [key, order[0] === key ? -order[1] : direction]; show(); });
      cell.append(button);
      byId('head').append(cell);
    }
  }
  // A column of names is as wide as its longest name. Where What to do, for which the page is opened, has no room to be
  // read beside the other columns, each drive is a card that shows the same.
  function fit() {
    const table = byId('table'), style = getComputedStyle(table), pen = document.createElement('canvas').getContext('2d');
    const width = (text) => pen.measureText(text || '').width;
    table.classList.remove('cards');
    for (const cell of byId('head').children) {
      const [texts, weight] = NAMES[cell.dataset.key] || [];
      if (!texts) continue;
      pen.font = weight + ' ' + style.fontSize + ' ' + style.fontFamily;
      const longest = Math.max(...data.drives.flatMap(texts).map(width), width(cell.textContent + ' \u25bc'));
      cell.style.width = Math.ceil(Math.min(longest, WIDEST)) + PADDING + 'px';
    }
    const what = byId('head').querySelector('.what');
    table.classList.toggle('cards', table.offsetWidth > table.parentNode.clientWidth || Boolean(what) && what.offsetWidth < LEAST);
    const top = document.querySelector('header').offsetHeight;   // the head of the table stays below that of the page
    for (const cell of byId('head').children) cell.style.top = top - 1 + 'px';
    document.documentElement.style.scrollPaddingTop = top + 40 + 'px';
  }
  function sorted(drives) {
    if (!order[0]) return drives;
    const value = COLUMNS.find(([key]) => key === order[0])[2];
    return drives.map((drive) => [value(drive), drive]).sort(([a, one], [b, other]) => {
      if (a === b) return one.place - other.place;
      if (a === undefined) return 1;   // what is not told stands last, whichever way
      if (b === undefined) return -1;
      return (a < b ? -1 : 1) * order[1];
    }).map(([, drive]) => drive);
  }
  function isWanted(drive, words) {
    return (only === null || drive.place === only) && ['state', 'action', 'model'].every((key) => !byId(key).value || drive[key] === byId(key).value)
      && words.every((word) => drive.text.includes(word));
  }
  function show() {
    const words = byId('text').value.toLowerCase().split(/\s+/).filter(Boolean);
    found = sorted(data.drives.filter((drive) => isWanted(drive, words)));
    for (const cell of byId('head').children) {
      if (cell.dataset.key === order[0]) cell.setAttribute('aria-sort', order[1] > 0 ? 'ascending' : 'descending');
      else cell.removeAttribute('aria-sort');
    }
    byId('rows').replaceChildren();
    drawn = 0;
    more(PAGE);
    byId('shown').textContent = found.length + ' of ' + data.drives.length;
    byId('all').hidden = found.length === data.drives.length;
  }
  function more(count) {
    const rows = document.createDocumentFragment();
    for (let place = drawn; place < Math.min(drawn + count, found.length); place += 1) rows.append(line(found[place]));
    drawn = Math.min(drawn + count, found.length);
    byId('rows').append(rows);
    byId('more').hidden = drawn >= found.length;
  }
  function line(drive) {
    const row = element('tr');
    for (const [key, title, , shown, kind] of COLUMNS) {
      const attributes = {'class': kind + (key === 'state' ? ' ' + drive.state : ''), 'data-title': title};
      const cell = key === 'name' ? element('th', null, {...attributes, scope: 'row'}) : element('td', null, attributes);
      cell.append(key === 'name' ? opener(drive, row) : shown(drive));
      if (!cell.textContent) cell.classList.add('empty');
      row.append(cell);
    }
    return row;
  }
  function opener(drive, row) {
    const button = element('button', null, {type: 'button', 'aria-expanded': 'false'});
    button.append(breakable(drive.name || drive.device));
    button.addEventListener('click', () => {
      const isOpen = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!isOpen));
      if (isOpen) row.nextSibling.remove();
      else row.after(panel(drive));
    });
    return button;
  }

  // --- the panel of a drive ---
  function panel(drive) {
    const row = element('tr', null, {'class': 'panel'}), cell = element('td', null, {colspan: String(COLUMNS.length)}), list = element('dl');
    const facts = [['findings', (drive.findings || []).join('; ') || drive.why], ['host', drive.host], ['address', drive.device && (drive.type ? drive.type + '@' : '') + drive.device], ['model', drive.model], ['firmware', drive.firmware],
      ['serial', drive.serial], ['kind', drive.kind], ['known as', drive.entry], ['such drives', drive.meaning], ['bay', drive.bay || (drive.drive_id ? `controller's drive ID ${drive.drive_id}, slot unknown` : '')], ['in Icinga', (drive.handling || []).join(', ')],
      ['switch the light on', drive.locate], ['in use by', (drive.depends || []).map((each) => each.text).join('; ')], ['written', written(drive)],
      ...Object.entries(drive.forecasts || {}).map(([metric, forecast]) => [(LASTING[metric] || readable(metric)) + ' used up', between(forecast)])];
    for (const [name, text] of facts) if (text) list.append(element('dt', name), element('dd', text));
    cell.append(list);
    for (const note of drive.notes) cell.append(element('p', 'note: ' + note.text, {'class': 'note'}));
    const trends = drive.readings.filter((each) => each.judged && drive.past[each.metric]);
    if (trends.length) cell.append(element('h3', 'Trends'), courses(trends, drive));
    if (drive.readings.length) cell.append(scrolling(drive));
    row.append(cell);
    return row;
  }
  function scrolling(drive) {
    const made = element('div', null, {'class': 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Readings of ' + (drive.name || drive.device)});
    made.append(table(drive));
    return made;
  }
  function table(drive) {
    const made = element('table'), head = element('thead'), top = element('tr');
    const all = drive.readings, titles = ['state', 'reading', 'value', 'warning', 'critical', 'source', 'why this limit'];
    for (const title of titles) top.append(element('th', title, {scope: 'col'}));
    head.append(top);
    made.append(element('caption', 'Readings'), head);
    for (const part of [all.filter((each) => each.judged), all.filter((each) => !each.judged)]) {
      const body = element('tbody');
      for (const each of part) body.append(readingRow(each));
      made.append(body);
    }
    return made;
  }
  function readingRow(each) {
    const isMet = each.warning || each.critical || each.state !== 'OK' || typeof each.value === 'string';  // there is a limit, or it is a verdict
    const row = element('tr', null, {'class': each.judged ? '' : 'unjudged'}), name = element('th', null, {scope: 'row'});
    const source = (each.source || '').length > SHORTENED ? each.source.slice(0, SHORTENED) + '…' : each.source;
    name.append(breakable(readable(each.metric)));
    row.append(element('td', each.judged ? isMet ? each.state : '' : 'not judged', {'class': 'judged ' + (each.judged ? each.state : '')}),
      name, element('td', told(each) + (each.growth ? '; ' + each.growth : ''), {'class': 'value'}), element('td', limit(each.warning, each.unit), {'class': 'limit', 'data-title': 'warning'}),
      element('td', limit(each.critical, each.unit), {'class': 'limit', 'data-title': 'critical'}),
      element('td', source, {'data-title': 'source'}),
      element('td', each.judged && isMet ? each.reason : '', {'class': 'reason'}));
    return row;
  }

  // --- the trend of each reading of a drive, those that are not in order first ---
  function courses(trends, drive) {
    const made = element('div', null, {'class': 'trends'});
    trends.sort((one, other) => RANK[one.state] - RANK[other.state]);
    for (const each of trends) made.append(course(drive.past[each.metric], each));
    if (drive.since) made.append(element('p', 'All other readings have been the same since ' + day(drive.since - data.made) + '.', {'class': 'note'}));
    return made;
  }
  function shape(name, attributes, text) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text) made.textContent = text;
    return made;
  }
  // A counter holds between two points: a line of steps, until today. A temperature does not.
  function course(past, each) {
    const points = past.filter(([when]) => when < data.made), isStep = each.unit !== 'C';
    points.push([data.made, typeof each.value === 'number' ? each.value : past[past.length - 1][1]]);
    const values = points.map((point) => point[1]), first = points[0][0], span = Math.max(data.made - first, 1);
    const low = Math.min(...values), high = Math.max(...values);
    const x = (when) => (60 + (when - first) / span * 232).toFixed(1), y = (value) => (high === low ? 45 : 80 - (value - low) / (high - low) * 70).toFixed(1);
    const path = points.map(([when, value], place) => (place ? isStep ? 'H' + x(when) + 'V' : 'L' + x(when) + ' ' : 'M' + x(when) + ' ') + y(value)).join('');
    const words = amount(values[0], each.unit) + ' to ' + amount(values[values.length - 1], each.unit) + ' since ' + day(first - data.made);
    const svg = shape('svg', {viewBox: '0 0 300 104', role: 'img', 'aria-label': readable(each.metric) + ' from ' + words, 'class': 'course'});
    svg.append(shape('path', {'class': 'grid', d: 'M60 10H292M60 80H292M60 80v4M292 80v4'}), shape('path', {'class': 'curve ' + each.state, d: path}),
      shape('text', {x: 56, y: 14, 'text-anchor': 'end'}, amount(high, each.unit).replace(/ \(.*/, '')), ...(high === low ? [] : [shape('text', {x: 56, y: 84, 'text-anchor': 'end'}, amount(low, each.unit).replace(/ \(.*/, ''))]),
      ...(span < DAY ? [] : [shape('text', {x: 60, y: 98}, day(first - data.made))]), shape('text', {x: 292, y: 98, 'text-anchor': 'end'}, day(0)));
    svg.addEventListener('pointermove', (event) => {
      const box = svg.getBoundingClientRect(), when = first + ((event.clientX - box.left) / box.width * 300 - 60) / 232 * span;
      const last = points.filter((point) => point[0] <= when).pop() || points[0];
      tip.textContent = day(Math.min(Math.max(when, first), data.made) - data.made) + ': ' + amount(last[1], each.unit);
    });
    const made = element('figure'), caption = element('figcaption'), tip = element('span', '', {'class': 'tip'});
    caption.append(element('strong', upper(readable(each.metric))), ' ', element('small', words), ' ', tip);
    made.append(caption, svg);
    return made;
  }

  // --- from what to do to the table ---
  function alone(place) {
    clear();
    only = place;
    show();
    byId('rows').querySelector('button').click();
    byId('rows').querySelector('button').focus({preventScroll: true});
    byId('drives').scrollIntoView();
  }
  function clear() {
    only = null;
    for (const id of ['text', 'state', 'action', 'model']) byId(id).value = '';
  }
  const openTools = () => { if (innerWidth > 736) byId('tools').open = true; };
  function connect() {
    document.addEventListener('click', (event) => {
      const found = event.target.closest('[data-place]');
      if (!found) return;
      event.preventDefault();
      alone(Number(found.dataset.place));
    });
    for (const svg of document.querySelectorAll('.chart > svg')) {
      const tip = svg.parentNode.querySelector('.tip');
      svg.addEventListener('pointerover', (event) => {
        const found = event.target.closest('[data-place], .range'), title = found && found.querySelector('title');
        tip.textContent = event.target.dataset.tip || (title ? title.textContent : '');
      });
      svg.addEventListener('pointerleave', () => { tip.textContent = ''; });
    }
    for (const button of document.querySelectorAll('button[data-model]')) {
      button.addEventListener('click', () => {
        clear();
        byId('model').value = button.dataset.model;
        show();
        byId('drives').scrollIntoView();
      });
    }
    for (const id of ['text', 'state', 'action', 'model']) byId(id).addEventListener('input', () => { only = null; show(); });
    byId('all').addEventListener('click', () => { clear(); show(); byId('text').focus(); });
    byId('more').addEventListener('click', () => more(10 * PAGE));
    addEventListener('beforeprint', () => { more(found.length); byId('table').classList.add('cards'); });
    addEventListener('afterprint', fit);
    addEventListener('resize', () => { fit(); openTools(); });
  }

  byId('tools').hidden = false;
  openTools();
  head();
  for (const key of ['action', 'model']) {
    const known = [...new Set(data.drives.map((drive) => drive[key]).filter(Boolean))];
    const words = JSON.parse(byId(key).dataset.words || '{}');
    for (const value of key === 'model' ? known.sort() : known) {
      const option = element('option', words[value] || value);
      option.value = value;
      byId(key).append(option);
    }
  }
  connect();
  show();
  fit();
}());

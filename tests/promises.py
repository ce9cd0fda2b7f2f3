"""Small mistakes in the code behind doc/explanation/security.md, each with the test that must notice it.

`make broken-promises` tries them.
"""
from __future__ import annotations

from typing import NamedTuple


class Broken(NamedTuple):
    """A mistake: the file, the text that stands there once, the wrong one in its place, and the test that notices."""

    file: str
    right: str
    wrong: str
    test: str


def _of(folder: str, test: str, file: str, right: str, wrong: str) -> Broken:
    return Broken(f'{folder}/{file}', right, wrong, f'tests/{test}')


def _ours(test: str, file: str, right: str, wrong: str) -> Broken:
    return _of('smart_attributes', test, file, right, wrong)


MARKUP = 'test_page.py::test_no_string_of_a_drive_is_markup_in_the_file'
POLICY = 'test_page.py::test_the_policy_of_the_page_admits_its_own_script_and_style_alone'
CALLED = 'test_hostile.py::test_what_a_drive_calls_itself_is_harmless_in_every_face'
OUR_LINES = 'test_sudoers.py::test_what_differs_in_a_character_is_admitted_only_if_it_is_ours'
FLOOD = 'test_fleet_hostile.py::test_a_list_of_services_without_end_is_a_sentence'
ONE_FLOOD = 'test_fleet_hostile.py::test_a_service_whose_answer_has_no_end_hides_no_other'
DOCUMENT = 'test_fleet_hostile.py::test_a_document_that_cannot_be_read_is_named_and_hides_no_other'
OF_HOSTS = 'test_fleet_input.py::test_what_another_host_writes_stays_text'
OF_CHECKS = 'test_fleet_answers.py::test_hostile_words_of_a_check_stay_text'
AGE = 'test_forged_history.py::test_age_that_only_another_users_history_tells_lowers_nothing'
CODE = 'test_security.py::test_no_text_becomes_code_and_no_shell_is_started'
NETWORK = 'test_security.py::test_only_what_asks_icinga_knows_the_network'
LOOKING = 'test_fleet_answers.py::test_nothing_but_looking_is_asked_of_icinga'

BROKEN = (
    # Places where the command install writes as root
    _ours('test_install.py::test_a_file_that_cannot_be_installed_safely_is_refused', 'installation/disk.py',
          '            self._require_trust(path)\n', ''),
    _ours('test_install.py::test_files_of_this_site_survive_an_upgrade_and_a_removal', 'installation/plan.py',
          'if written and found.digest == written else', 'if True else'),
    # Privileges of the plugin
    _ours('test_smartctl_calls.py::test_a_drive_is_read_with_exactly_these_words', 'reading/smartctl_calls.py',
          "'--nocheck=standby', '-i'", "'-i'"),
    _ours('test_addresses.py::test_a_mistake_is_named_with_the_right_form', 'reading/device_types.py',
          "('jmb39x', 'jmb39x-q',", "('jmb39x-q',"),
    # Strings of a drive
    _ours(MARKUP, 'output/page.py', 'autoescape=True', 'autoescape=False'),
    _ours(MARKUP, 'output/page.py', ".replace('<', '\\\\u003c')", ''),
    _ours(MARKUP, 'output/page.py', ".replace('&', '\\\\u0026')", ''),
    _ours(POLICY, 'output/page.html', "default-src 'none'", 'default-src *'),
    _ours(POLICY, 'output/page.html', 'script-src {{ script_hash }}', "script-src 'unsafe-inline'"),
    _ours(CALLED, 'words.py', """'|=<>`"$\\\\'""", "'|=<>`\"'"),
    _ours('test_clean.py::test_a_sentence_keeps_its_quotes_and_may_not_hold_a_bar', 'words.py', "'|<>`', ' ')",
          "'<>`', ' ')"),
    _ours('test_clean.py::test_a_string_becomes_one_harmless_line', 'words.py', "re.sub(_ESCAPES, '', text)", 'text'),
    _ours(CALLED, 'words.py', "character if character.isprintable() else ' '", 'character'),
    # smartctl's output, and recorded reports
    _ours('test_processes.py::test_output_without_end_is_cut', 'reading/processes.py',
          'if process.sizes[0] >= LARGEST_FILE:', 'if not process.sizes:'),
    _ours('test_processes.py::test_complaints_without_end_are_cut_as_well_and_keep_nobody_from_being_heard',
          'reading/processes.py', 'if process.sizes[stream] < LARGEST_FILE:', 'if True:'),
    _ours('test_processes.py::test_one_slow_one_hanging_and_one_dying_do_not_touch_21_others', 'reading/processes.py',
          'if now - process.started >= patience:', 'if now - process.started >= 9 * patience:'),
    _ours('test_processes.py::test_who_ignores_sigterm_is_killed_soon_after', 'reading/processes.py',
          'process.signal(SIGKILL)', 'process.signal(SIGTERM)'),
    _ours('test_content.py::test_a_file_larger_than_any_report_is_refused', 'reading/content.py',
          'if len(data) > LARGEST_FILE:', 'if len(data) > LARGEST_FILE << 9:'),
    # Names in options
    _ours('test_processes.py::test_the_process_gets_its_arguments_and_nothing_of_ours', 'reading/processes.py',
          'command[0], command, ENVIRONMENT,', 'command[0], command, os.environ,'),
    _ours(CODE, 'constants.py', '"""\n', '"""\nimport os; os.system("true")\n'),
    _ours(CODE, 'knowledge/patterns.py', 'from __future__ import annotations\n',
          'from __future__ import annotations\n\nONE = eval("1")\n'),
    # The user nagios, who has the sudo rule
    _ours('test_security.py::test_each_expression_of_the_rule_stands_for_all_arguments', 'reading/sudoers.py',
          "{rule.executable} ^{expression}$'", "{rule.executable} ^{expression}'"),
    _ours(OUR_LINES, 'reading/sudoers.py', 'disk/by-[a-z]+/[A-Za-z0-9_][A-Za-z0-9_.:+=@-]*',
          'disk/by-[a-z]+/[A-Za-z0-9_.:+=@/-]*'),
    _ours('test_sudoers.py::test_nothing_is_admitted_before_or_behind_a_command_line', 'reading/sudoers.py',
          "'sg[0-9]+'", "'sg[0-9]+[0-9 s-]*'"),
    _ours('test_sudoers.py::test_vendor_commands_are_admitted_only_on_request', 'reading/sudoers.py',
          'if not entry.is_vendors or entry.name in requested', 'if True'),
    _ours('test_sudoers.py::test_a_rule_that_would_admit_more_is_not_printed', 'reading/sudoers.py',
          ' or re.fullmatch(_NO_USER, request.user)', ''),
    _ours('test_sudoers.py::test_a_rule_that_would_admit_more_is_not_printed', 'reading/sudoers.py',
          'if not re.fullmatch(_EXECUTABLE, how.smartctl):', 'if not how.smartctl:'),
    # A smartctl that another user could change
    _ours('test_smartctl_calls.py::test_root_runs_no_program_that_another_could_change', 'reading/smartctl_calls.py',
          "trust.fault(path, trust.ROOT) if as_root else ''", "''"),
    _ours('test_sudoers.py::test_a_smartctl_that_others_can_change_is_not_put_into_a_rule', 'reading/sudoers.py',
          'how.smartctl, as_root=True,', 'how.smartctl, as_root=False,'),
    _ours('test_trust.py::test_one_step_of_another_owner_is_enough', 'trust.py',
          'if status.st_uid not in trusted:', 'if part == path and status.st_uid not in trusted:'),
    _ours('test_trust.py::test_modes_that_let_others_write_are_seen', 'trust.py',
          'if status.st_mode & stat.S_IWOTH:', 'if not status.st_mode:'),
    _ours('test_trust.py::test_an_access_control_list_counts', 'trust.py',
          '(tag == _USER and number not in trusted) or ', ''),
    # The environment and the folder of the caller
    _of('debian', 'test_security.py::test_the_installed_programs_import_nothing_of_their_callers',
        'check_smart_attributes', 'python3 -IS', 'python3 -S'),
    # Files of a site
    _ours('test_rulebook.py::test_what_another_could_have_written_decides_nothing', 'knowledge/data_file.py',
          '    if fault:\n', '    if not path:\n'),
    _ours('test_data_file.py::test_root_refuses_a_file_of_others_in_a_folder_like_tmp', 'knowledge/data_file.py',
          'fault = trust.fault(path, user)', 'fault = trust.fault(path, os.stat(path).st_uid)'),
    _ours('test_files.py::test_pipes_and_folders_are_not_waited_for', 'files.py', 'os.O_NONBLOCK | os.O_NOCTTY',
          'os.O_NOCTTY'),
    _ours('test_files.py::test_a_file_of_exactly_the_size_is_read_and_one_byte_more_is_not', 'files.py',
          'while size <= most:', 'while size <= most + 1:'),
    _ours('test_alarm.py::test_a_pattern_that_never_ends_costs_one_drive_its_choice_and_no_drive_its_verdict',
          'alarm.py', '_signal.setitimer(_signal.ITIMER_VIRTUAL, share, share)', '(0.0, 0.0)'),
    _ours('test_rulebook.py::test_what_is_sound_beside_a_mistake_holds', 'knowledge/site_file.py',
          'return [without(file, of_limits(file.data, units, groups, worse=worse)) for file in files]',
          'return [file for file in files if not of_limits(file.data, units, groups, worse=worse)]'),
    _ours('test_acknowledge.py::test_a_check_that_reads_while_it_is_written_sees_all_or_nothing',
          'commands/acknowledge.py',
          'os.replace(beside, file)', "open(file, 'w').write(json.dumps(data))"),
    _ours('test_secrets.py::test_roots_error_messages_quote_nothing_of_a_file_that_another_user_has_linked', 'trust.py',
          'if not stat.S_ISLNK(last.st_mode) and not all(_is_open(last, other) for other in leading):', 'if False:'),
    # History
    _ours(AGE, 'check/history_access.py', 'Past(recalled.histories, self.store.now, self.store.is_own,',
          'Past(recalled.histories, self.store.now, True,'),
    _ours('test_forged_history.py::test_another_users_history_leaves_no_sleeping_drive_out_of_roots_check',
          'check/history_access.py', 'if self.store and self.store.is_own else None',
          'if self.store else None'),
    _ours('test_forged_history.py::test_whatever_is_written_there_hides_no_drive', 'history/rows.py',
          'if not (0 <= number <= most and 0 <= time <= LATEST):', 'if False:'),
    _ours('test_history_store.py::test_links_are_refused', 'history/directory.py', ' and status.st_nlink == 1', ''),
    _ours('test_history_store.py::test_a_forged_file_takes_no_time', 'history/database.py', 'BUDGET = 0.5',
          'BUDGET = 50'),
    _ours('test_security.py::test_no_link_in_the_folder_of_locks_is_followed', 'reading/drive_locks.py',
          'os.O_NOFOLLOW | ', ''),
    _ours('test_drive_locks.py::test_history_follows_no_link_that_was_planted_in_a_sticky_folder', 'state_directory.py',
          'if os.path.islink(path):', 'if not path:'),
    _ours('test_drive_locks.py::test_root_keeps_its_locks_where_only_root_can_write_whatever_state_dir_says',
          'state_directory.py', 'places = [_of_environment(), RUN, given]', 'places = [given, _of_environment(), RUN]'),
    _ours('test_drive_locks.py::test_root_uses_no_folder_of_locks_that_another_user_could_have_made',
          'state_directory.py',
          'return trust.fault(path, user) or (', 'return ('),
    _ours('test_history_rows.py::test_a_row_that_changed_is_damage', 'history/rows.py',
          'if series.checksum(points, 0 if is_whole else row.settled) != row.sum:', 'if False:'),
    # smartd's logs
    _ours('test_history_smartd_log.py::test_what_is_no_file_is_not_read', 'history/smartd_log.py',
          'os.O_NOFOLLOW | os.O_NONBLOCK', 'os.O_NONBLOCK'),
    _ours('test_history_smartd_log.py::test_a_log_without_end_is_read_in_part', 'history/smartd_log.py',
          'left_out = max(size - start - room, 0)', 'left_out = 0'),
    _ours('test_history_smartd_log.py::test_a_file_that_unpacks_to_gigabytes_takes_neither_time_nor_history',
          'history/unpacking.py', 'if text.tell() + len(piece) > most:', 'if text.tell() + len(piece) > most << 9:'),
    _ours('test_history_smartd_log.py::test_a_line_with_a_cell_that_smartd_never_writes_is_skipped',
          'history/smartd_log.py',
          'if not (_ATA.fullmatch(text) or _SCSI.fullmatch(text)):', 'if not text:'),
    _ours('test_history_smartd_log.py::test_a_line_of_the_future_is_left_out_where_no_hours_date_it',
          'history/smartd_log.py', 'lines = [line for line in lines if line.time <= now]', 'lines = list(lines)'),
    # commands of NRPE
    _ours('test_doctor.py::test_doctor_starts_no_command_of_nrpe_that_needs_more_than_this_program',
          'doctor/daemons.py', 'is_ours and not place and not _OF_THE_SHELL.search(command.line)', 'is_ours'),
    # Icinga's answers
    _ours('test_fleet_answers.py::test_a_secret_that_others_can_read_is_not_used', 'fleet/icinga.py',
          ", 0o040: 'its group, or a user of its access-control list,'", ''),
    _ours('test_acknowledge.py::test_nobody_else_can_hold_the_lock', 'commands/acknowledge.py',
          'os.O_NONBLOCK | os.O_CLOEXEC, 0o600)', 'os.O_NONBLOCK | os.O_CLOEXEC, 0o644)'),
    _ours('test_fleet_answers.py::test_no_word_goes_to_who_has_no_trusted_certificate', 'fleet/icinga.py',
          'context = ssl.create_default_context(cafile', 'context = ssl._create_unverified_context(cafile'),
    _ours('test_fleet_answers.py::test_no_word_goes_to_who_has_a_certificate_for_another_name', 'fleet/icinga.py',
          'context.verify_flags &= ~ssl.VERIFY_X509_STRICT', 'context.check_hostname = False'),
    _ours('test_fleet_answers.py::test_a_password_that_everybody_could_read_or_change_is_not_used', 'fleet/icinga.py',
          "READERS.items() if mode & bits", "READERS.items() if mode & bits & 0o040"),
    _ours('test_fleet_answers.py::test_a_password_that_everybody_could_read_or_change_is_not_used', 'fleet/icinga.py',
          'fault = trust.fault(path, os.geteuid())', "fault = ''"),
    _ours(LOOKING, 'fleet/icinga.py', "'X-HTTP-Method-Override': 'GET', ", ''),
    _ours('test_fleet_answers.py::test_an_answer_that_is_none_is_a_sentence', 'fleet/icinga.py',
          'if answer.status not in (200, 404):', 'if answer.status == 500:'),
    _ours(FLOOD, 'constants.py', 'LARGEST_SERVICE_LIST = 32 << 20', 'LARGEST_SERVICE_LIST = 1 << 40'),
    _ours(ONE_FLOOD, 'constants.py', 'LARGEST_ANSWER = 1 << 20', 'LARGEST_ANSWER = 1 << 40'),
    _ours(ONE_FLOOD, 'fleet/icinga.py', 'if found is None and len(names) > 1:', 'if False:'),
    _ours('test_fleet_hostile.py::test_what_would_take_more_history_than_allowed_is_not_parsed',
          'fleet/untrusted.py',
          'if cost(text) > LARGEST_PARSED:', 'if False:'),
    _ours('test_fleet_hostile.py::test_a_number_of_a_million_digits_is_parsed_at_once', 'fleet/untrusted.py',
          'json.JSONDecoder(parse_int=_number)', 'json.JSONDecoder()'),
    _ours('test_fleet_hostile.py::test_time_that_is_over_leaves_the_drives_that_were_read', 'fleet/gathering.py',
          'except (SmartError, alarm.TimeIsOver) as error:', 'except SmartError as error:'),
    _ours('test_fleet_hostile.py::test_a_mistake_of_ours_in_one_service_hides_no_other', 'fleet/gathering.py',
          '        except Exception as error:', '        except SmartError as error:'),
    _ours('test_fleet_hostile.py::test_labels_and_numbers_that_are_longer_than_ours_hold_no_value',
          'fleet/plugin_output.py',
          "_DIGITS = '[0-9]{1,30}'", "_DIGITS = '[0-9]+'"),
    _ours('test_fleet_hostile.py::test_the_address_is_looked_up_where_an_alarm_can_interrupt_the_wait',
          'fleet/icinga.py', 'thread.start()\n', 'thread.run()\n'),
    _ours(OF_CHECKS, 'fleet/line_ends.py', 'return text if text.isprintable() else visible(text)', 'return text'),
    _ours(OF_CHECKS, 'fleet/plugin_output.py', "'why': visible(why),", "'why': why,"),
    _ours(OF_CHECKS, 'fleet/services.py', "Service(visible(host[:LONGEST_SERVICE_NAME]) or",
          "Service(host[:LONGEST_SERVICE_NAME] or"),
    # Documents of other hosts
    _ours(OF_HOSTS, 'fleet/untrusted.py', 'return _shown(given[:LONGEST_TEXT])', 'return given[:LONGEST_TEXT]'),
    _ours('test_fleet_groups.py::test_what_a_host_says_of_its_groups_stays_text', 'fleet/untrusted.py',
          'return [_shown(each[:LONGEST_TEXT])', 'return [each[:LONGEST_TEXT]'),
    _ours(DOCUMENT, 'fleet/triage_documents.py', 'if _BEGINNING.match(text):', 'if not text:'),
    _ours(DOCUMENT, 'constants.py', 'LARGEST_DOCUMENT = 16 << 20', 'LARGEST_DOCUMENT = 16 << 30'),
    _ours('test_fleet_hostile.py::test_rows_are_kept_within_their_memory', 'constants.py',
          'LARGEST_ROW = 32 << 10', 'LARGEST_ROW = 32 << 30'),
    _ours('test_fleet_hostile.py::test_drives_beyond_those_of_any_host_are_counted', 'constants.py',
          'MOST_DRIVES_OF_HOST = 2_000', 'MOST_DRIVES_OF_HOST = 2_000_000'),
    _ours('test_fleet_input.py::test_a_file_that_cannot_be_read_makes_the_rest_incomplete', 'commands/fleet.py',
          'return 0 if fleet.summary.states and not fleet.faults else 3', 'return 0 if fleet.summary.states else 3'),
    # NRPE, the network, doctor, what is shown
    _of('contrib', 'test_security.py::test_the_command_for_nrpe_takes_nothing_from_outside',
        'nrpe/check-smart-attributes.cfg', '--max-output 8000 -d', '$ARG1$ --max-output 8000 -d'),
    _ours(NETWORK, 'constants.py', '"""\n', '"""\nimport urllib.request\n'),
    _ours('test_doctor_raid.py::test_nothing_is_ever_set', 'doctor/raid.py', "'scterc')", "'scterc,70,70')"),
    _ours('test_doctor_raid.py::test_a_drive_that_must_not_be_read_is_not_asked', 'doctor/coverage.py',
          'planned.issuperset(devices)', 'planned'),
    _ours('test_doctor_raid.py::test_a_smartctl_that_others_can_change_is_not_run', 'doctor/raid.py',
          '        smartctl_calls.check_executable(how.smartctl, as_root=True)\n', ''),
    _ours('test_security.py::test_doctor_keeps_nothing_of_roots_rights', 'doctor/start.py',
          '    os.initgroups(user, group)\n', ''),
    _ours('test_security.py::test_doctor_keeps_nothing_of_roots_rights', 'doctor/start.py',
          'os.setresuid(number, number, number)', 'os.setresuid(number, number, 0)'),
    _ours('test_page.py::test_a_device_is_not_replaced_by_a_page', 'commands/person.py',
          'not stat.S_ISREG(os.stat(path).st_mode)', 'False'),
    _ours('test_page.py::test_who_reads_a_page_while_it_is_written_sees_the_old_one_whole', 'files.py',
          'os.replace(temporary, path)', "open(path, 'w').write(text)"),
)

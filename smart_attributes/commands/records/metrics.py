"""The record of the command `metrics`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command, flag, single
from ...typed import NamedTuple


class MetricsOptions(NamedTuple):
    """The output file and the format of the metrics."""

    output: str  # file; '': standard output
    as_json: bool


COMMAND = Command(
    name='metrics',
    summary='Print metrics and states of drives for Prometheus or Zabbix.',
    epilog="""\
example:
  check_smart_attributes metrics --scan --output /var/lib/prometheus/node-exporter/smart.prom

Problems are also printed on standard error. For each drive, the metrics show whether and when it was read.

exit status: 0 if metrics were written and at least one drive answered or is in standby, else 3""",
    groups=groups.JUDGED,
    options=(
        single(
            '--output',
            'FILE',
            'write the metrics to this file, atomically, for the textfile collector of node_exporter',
        ),
        flag(
            '--json',
            'print small JSON for Zabbix: states, findings and graphed values',
            dest='as_json',
        ),
    ),
    values=MetricsOptions,
    history='writes',
    has_time_limit=True,
)

"""What the early start would start: the real one, with a runner that only writes down."""

from smart_attributes.reading import fast_path, processes

Command = tuple[str, ...]


class Listener(processes.Runner):
    """Starts nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Command] = []
        self.state_dirs: list[str] = []

    def lock_drives_in(self, state_dir: str) -> None:
        """Write down which folder is used, before the first process."""
        self.state_dirs += [] if self.asked else [state_dir]

    def start(self, command: Command) -> None:
        """Write down what would be started."""
        self.asked.append(command)


def commands(argv: list[str]) -> list[Command]:
    """Return what a command line starts before it is understood."""
    listener = Listener()
    fast_path.start(argv, listener)
    return listener.asked

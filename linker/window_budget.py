"""What the windows of all streams of a node may have beyond what each begins with."""


class WindowBudget:
    """Bytes. Who comes first gets them, and gives them back when its stream ends or carries less."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.taken_bytes = 0

    def take(self, size: int) -> int:
        """As much of it as there is."""
        taken = max(0, min(size, self.bytes_max - self.taken_bytes))
        self.taken_bytes += taken
        return taken

    def give_back(self, size: int) -> None:
        self.taken_bytes -= size

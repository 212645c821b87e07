"""Counts file accesses as the kernel reports them (inotify), by any process."""
import collections
import ctypes
import os
import struct

IN_CLOSE_NOWRITE = 0x10
IN_OPEN = 0x20
IN_MOVED_TO = 0x80
IN_NONBLOCK = 0o4000

HEADER = struct.Struct("iIII")  # watch, mask, cookie, length of the name


class FileEvents:
    """Events in the given folders, which must exist. Watches opens as well as closes, because the kernel merges equal
    consecutive events."""

    def __init__(self, *folders):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.queue = self.libc.inotify_init1(IN_NONBLOCK)
        self.folders = {}
        for folder in folders:
            watch = self.libc.inotify_add_watch(
                self.queue, os.fsencode(folder), IN_OPEN | IN_CLOSE_NOWRITE | IN_MOVED_TO
            )
            if watch < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
            self.folders[watch] = folder

    def close(self):
        os.close(self.queue)

    def take(self):
        """(how often each file was read, how often each was put in place) since the last call."""
        read, placed = collections.Counter(), collections.Counter()
        while True:
            try:
                data = os.read(self.queue, 1 << 20)
            except BlockingIOError:
                return read, placed
            at = 0
            while at < len(data):
                watch, mask, _, length = HEADER.unpack_from(data, at)
                at += HEADER.size
                name = os.fsdecode(data[at : at + length].rstrip(b"\0"))
                at += length
                if watch < 0:
                    raise OverflowError("too many events between two calls")
                path = self.folders[watch] / name
                read[path] += bool(mask & IN_CLOSE_NOWRITE)
                placed[path] += bool(mask & IN_MOVED_TO)

"""Allocations of known size through the driver, with time between them for readings of the GPU's memory."""
import ctypes
import time

MIB = 1 << 20
cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    assert result == 0, f"{name}: {result}"


def allocate(size):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    return address


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class Properties(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", Location),
        ("attributes", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 32),
    ]


def map_memory(size):
    properties = Properties(1, 0, Location(1, 0), None)
    handle, address, none = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_ulonglong(0)
    call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(properties), none)
    call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size), ctypes.c_size_t(0), none, none)
    call("cuMemMap", address, ctypes.c_size_t(size), ctypes.c_size_t(0), handle, none)
    return handle, address


def pause():
    time.sleep(0.35)


device, context = ctypes.c_int(), ctypes.c_void_p()
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)
pause()
kept = [allocate(size) for size in (512 * MIB, 1000, 3 * MIB, 87_640)]
freed = allocate(256 * MIB)
pause()
in_pool = ctypes.c_uint64()
call("cuMemAllocAsync", ctypes.byref(in_pool), ctypes.c_size_t(128 * MIB), None)
call("cuStreamSynchronize", None)
pause()
mapped, unmapped = map_memory(256 * MIB), map_memory(64 * MIB)
pause()
managed, pinned = ctypes.c_uint64(), ctypes.c_void_p()
call("cuMemAllocManaged", ctypes.byref(managed), ctypes.c_size_t(32 * MIB), 1)
call("cuMemsetD8_v2", managed, ctypes.c_ubyte(1), ctypes.c_size_t(32 * MIB))
call("cuCtxSynchronize")
call("cuMemHostAlloc", ctypes.byref(pinned), ctypes.c_size_t(16 * MIB), 0)
pause()
call("cuMemFree_v2", freed)
call("cuMemUnmap", unmapped[1], ctypes.c_size_t(64 * MIB))
call("cuMemRelease", unmapped[0])
pause()

"""Protobuf on the wire, naively: to write and to read Core ML's files without any schema of the library.

Messages are lists of (field number, value); a value is an int (varint), a float32 of the class F32, a float64 (float),
bytes, a str, or such a list again. Field numbers are those that Apple publishes."""
import struct


class F32(float):
    pass


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(message):
    out = bytearray()
    for number, value in message:
        if isinstance(value, bool) or isinstance(value, int):
            out += varint(number << 3) + varint(int(value))
        elif isinstance(value, F32):
            out += varint(number << 3 | 5) + struct.pack("<f", value)
        elif isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        else:
            if isinstance(value, str):
                value = value.encode()
            elif not isinstance(value, bytes):
                value = encode(value)
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return bytes(out)


def fields(data):
    """(number, wire type, value) of each field; what is length-delimited stays bytes."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = number()
        kind = key & 7
        if kind == 0:
            yield key >> 3, kind, number()
        elif kind == 1:
            yield key >> 3, kind, data[at:at + 8]
            at += 8
        elif kind == 5:
            yield key >> 3, kind, data[at:at + 4]
            at += 4
        elif kind == 2:
            size = number()
            if at + size > len(data):
                raise ValueError("a field is longer than its message")
            yield key >> 3, kind, data[at:at + size]
            at += size
        else:
            raise ValueError("wire type %d" % kind)

# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRC32C (Castagnoli, RFC 3720 B.4) in pure Python, four bytes a step.

The stand-in has its own so that it does not share a mistake with the code under test.
"""

from __future__ import annotations

import sys
from array import array

__all__ = ["crc32c"]

_POLYNOMIAL = 0x82F63B78  # reflected


def _advance(register: int, bits: int) -> int:
    for _bit in range(bits):
        register = (register >> 1) ^ (_POLYNOMIAL if register & 1 else 0)
    return register


def _table(first_bit: int, width: int, steps: int) -> array[int]:
    """Effect of `width` register bits from `first_bit` on, `steps` shifts later (it is linear)."""
    table = array("I", [0] * (1 << width))
    for bit in range(width):
        effect = _advance(1 << (first_bit + bit), steps)
        size = 1 << bit
        for low in range(size):
            table[size + low] = table[low] ^ effect
    return table


_LOW = _table(0, 16, 32)
_HIGH = _table(16, 16, 32)
_BYTE = _table(0, 8, 8)


def crc32c(data: bytes) -> int:
    """The checksum as the API carries it: an unsigned 32-bit number."""
    register = 0xFFFFFFFF
    whole = len(data) & ~3
    words = array("I", data[:whole])
    if sys.byteorder == "big":
        words.byteswap()
    low, high = _LOW, _HIGH
    for word in words:
        register ^= word
        register = low[register & 0xFFFF] ^ high[register >> 16]
    for byte in data[whole:]:
        register = _BYTE[(register ^ byte) & 0xFF] ^ (register >> 8)
    return register ^ 0xFFFFFFFF

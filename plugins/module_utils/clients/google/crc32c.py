# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""CRC32C (Castagnoli), which Secret Manager checks payloads by, where no library is installed for it."""

from __future__ import annotations

__all__ = ["crc32c"]

_POLYNOMIAL = 0x82F63B78


def _entry(value: int) -> int:
    for dummy in range(8):
        value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
    return value


_TABLE = tuple(_entry(value) for value in range(256))


def crc32c(data: bytes) -> int:
    """64 KiB, the largest payload, take some milliseconds."""
    value = 0xFFFFFFFF
    for byte in data:
        value = (value >> 8) ^ _TABLE[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF

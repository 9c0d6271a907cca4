#!/usr/bin/env bash
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# part.sh NAME COMMAND...: runs the command and says how long it took and how it ended.
name=$1
shift
printf -- '--- %s\n' "$name"
"$@"
status=$?
if [ "$status" = 0 ]; then verdict=ok; else verdict="FAILED (exit $status)"; fi
printf -- '--- %s: %s, %d s\n' "$name" "$verdict" "$SECONDS"
exit "$status"

# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Programs that run without Ansible: the pull secret job and the syncer.

Imports the layers below it, never tasks.
Public: job.program, job.log, syncer.program.
"""

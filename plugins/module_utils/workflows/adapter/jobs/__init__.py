# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Creates, observes, suspends and deletes the Jobs of one adapter, and the Secrets that their pods read.

Imports config, places, clients, runtime, model and dockerconfig; never engine.
Public: jobs, dry_run.
"""

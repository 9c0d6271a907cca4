# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pull secret job: stores and places the pull secret of the cluster that the environment describes.

Imports workflows, clients, runtime, model and dockerconfig.
Public: program, work, log.
"""

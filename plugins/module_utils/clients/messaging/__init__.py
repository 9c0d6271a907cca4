# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clients of RabbitMQ and Google Cloud Pub/Sub, and the publishing of CloudEvents.

Imports clients.hyperfleet (its tokens), runtime, model and dockerconfig.
Public: events, publishers, pubsub, rabbitmq.
"""

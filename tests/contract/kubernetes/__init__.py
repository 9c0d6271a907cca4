# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What this collection relies on from a Kubernetes API server, as tests.

    pytest tests/contract/kubernetes                    the stand-in, and the real kube-apiserver where Go is
    pytest tests/contract/kubernetes -m "not real"      the stand-in only
    K8S_CONTRACT_URL=... K8S_CONTRACT_TOKEN=... [K8S_CONTRACT_VIEWER_TOKEN=... K8S_CONTRACT_CA=file]
                                                        that server only (the token is a cluster admin's)

The tests speak through the ``kubernetes`` client and know nothing of the stand-in.
"""

# SPDX-License-Identifier: GPL-2.0-or-later
#
# Here: the QEMU devices our x86_64 machine is built with, besides those that
#       q35 itself selects; hooks.toml links this file into QEMU's configs/devices.
# Not here: our own devices; they need no Kconfig symbol (hw/meson.build).
# Standard: none.

CONFIG_Q35=y
CONFIG_HPET=y
CONFIG_PCIE_PORT=y
CONFIG_SERIAL_PCI=y

CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_NET=y
CONFIG_VIRTIO_RNG=y
CONFIG_VIRTIO_SERIAL=y

# A NIC without paravirtualisation, and QEMU's own SSD for comparison with ours.
CONFIG_E1000E_PCI_EXPRESS=y
CONFIG_NVME_PCI=y
# nvme's source refers to it even where no SPDM responder is configured.
CONFIG_SPDM_SOCKET=y

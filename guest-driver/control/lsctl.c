// SPDX-License-Identifier: GPL-2.0
/*
 * Here: tells the run-control device of a panic, so that the run ends with its reason.
 * Not here: everything else the device does; the lsctl program needs no module for it.
 * Standard: none; include/lockstep/control_regs.h is the data sheet.
 */
#include <linux/io.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/panic_notifier.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "lockstep/control_regs.h"

struct lsctl {
	void __iomem *registers;
	void __iomem *window;
	struct notifier_block panic;
};

/*
 * The other CPUs are stopped: what a transfer of the lsctl program has in the
 * window is of no use any more and may be overwritten.
 */
static int lsctl_panic(struct notifier_block *block, unsigned long event, void *text)
{
	struct lsctl *lsctl = container_of(block, struct lsctl, panic);
	size_t length = text ? strnlen(text, LSCTL_PANIC_TEXT_MAX) : 0;

	memcpy_toio(lsctl->window, text, length);
	/* Orders the text before the write that makes the device look at it. */
	wmb();
	iowrite32(length, lsctl->registers + LSCTL_REG_PANIC);
	return NOTIFY_DONE;
}

static int lsctl_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct lsctl *lsctl;
	u32 value;
	int ret;

	lsctl = devm_kzalloc(&pdev->dev, sizeof(*lsctl), GFP_KERNEL);
	if (!lsctl)
		return -ENOMEM;

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;

	/* The regions are not requested: the lsctl program maps them as well. */
	lsctl->registers = pcim_iomap(pdev, LSCTL_BAR_REGISTERS, 0);
	lsctl->window = pcim_iomap(pdev, LSCTL_BAR_WINDOW, LSCTL_PANIC_TEXT_MAX);
	if (!lsctl->registers || !lsctl->window)
		return -ENOMEM;

	value = ioread32(lsctl->registers + LSCTL_REG_ID);
	if (value != LSCTL_ID_VALUE)
		return dev_err_probe(&pdev->dev, -ENODEV, "unknown device id 0x%x\n", value);
	value = ioread32(lsctl->registers + LSCTL_REG_VERSION);
	if (value != LSCTL_VERSION_VALUE)
		return dev_err_probe(&pdev->dev, -ENODEV, "unknown version %u\n", value);

	lsctl->panic.notifier_call = lsctl_panic;
	/* Last, as the run ends here: the others may still print something. */
	lsctl->panic.priority = INT_MIN;
	pci_set_drvdata(pdev, lsctl);
	return atomic_notifier_chain_register(&panic_notifier_list, &lsctl->panic);
}

static void lsctl_remove(struct pci_dev *pdev)
{
	struct lsctl *lsctl = pci_get_drvdata(pdev);

	atomic_notifier_chain_unregister(&panic_notifier_list, &lsctl->panic);
}

static const struct pci_device_id lsctl_ids[] = {
	{ PCI_DEVICE(LSCTL_PCI_VENDOR, LSCTL_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, lsctl_ids);

static struct pci_driver lsctl_driver = {
	.name = "lsctl",
	.id_table = lsctl_ids,
	.probe = lsctl_probe,
	.remove = lsctl_remove,
};
module_pci_driver(lsctl_driver);

MODULE_DESCRIPTION("Lockstep run control: panic notice");
MODULE_LICENSE("GPL");

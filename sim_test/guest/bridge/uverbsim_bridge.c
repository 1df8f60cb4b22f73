// SPDX-License-Identifier: GPL-2.0
/*
 * A PCI function whose device is a process.
 *
 * The module makes a PCI domain of its own with one bus and one function on it.
 * What the function says in its configuration space, the process brings along
 * when it plugs the function in; a driver's stores to BAR 0 end up in memory that
 * the process sees; the process reaches the machine's memory by physical
 * address, as a device does by DMA, and raises the function's interrupts. The
 * module knows nothing of what the device does. See README.md.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/ioport.h>
#include <linux/irq.h>
#include <linux/irq_work.h>
#include <linux/irqdesc.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>

#define CONFIG_SPACE 256
#define DOMAIN 1

/* What the process says of the function. */
struct bridge_function {
	__u64 bar;	/* physical address of BAR 0, in memory that is not RAM to the kernel */
	__u64 size;	/* its length in bytes, a power of two */
	__u8 config[CONFIG_SPACE];
	__u8 writable[CONFIG_SPACE];	/* the bits that a driver may change */
};

#define BRIDGE_PLUG _IOW('u', 0xb0, struct bridge_function)
#define BRIDGE_INTERRUPT _IO('u', 0xb1)	/* the argument is the MSI-X vector */

static DEFINE_MUTEX(lock);	/* of all below but the configuration space */
static bool taken;		/* a process has the bridge open */
static struct pci_bus *bus;
static struct pci_dev *function;
static struct bridge_function is;
static DEFINE_RAW_SPINLOCK(config_lock);	/* of is.config once the bus exists */

/* Configuration space. */

static bool config_reaches(struct pci_bus *b, unsigned int devfn, int where, int size)
{
	return b->number == 0 && devfn == 0 && where + size <= CONFIG_SPACE;
}

static int config_read(struct pci_bus *b, unsigned int devfn, int where, int size, u32 *value)
{
	u8 bytes[4] = {};

	if (!config_reaches(b, devfn, where, size)) {
		PCI_SET_ERROR_RESPONSE(value);
		return PCIBIOS_DEVICE_NOT_FOUND;
	}
	scoped_guard(raw_spinlock_irqsave, &config_lock)
		memcpy(bytes, is.config + where, size);
	*value = get_unaligned_le32(bytes);
	return PCIBIOS_SUCCESSFUL;
}

static int config_write(struct pci_bus *b, unsigned int devfn, int where, int size, u32 value)
{
	u8 bytes[4];

	if (!config_reaches(b, devfn, where, size))
		return PCIBIOS_DEVICE_NOT_FOUND;
	put_unaligned_le32(value, bytes);
	guard(raw_spinlock_irqsave)(&config_lock);
	for (int i = 0; i < size; i++) {
		u8 may = is.writable[where + i];

		is.config[where + i] = (is.config[where + i] & ~may) | (bytes[i] & may);
	}
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = { .read = config_read, .write = config_write };

/* The bus. */

static struct pci_sysdata sysdata = { .domain = DOMAIN, .node = NUMA_NO_NODE };
static struct resource bus_number = { .name = "uverbsim bridge bus", .flags = IORESOURCE_BUS };
/*
 * The window that the function's BAR lies in. It is not a part of iomem_resource,
 * where the same range is "Reserved": the claim of the BAR would collide.
 */
static struct resource window = { .name = "uverbsim bridge", .flags = IORESOURCE_MEM | IORESOURCE_PREFETCH };

static int make_bus(void)
{
	LIST_HEAD(resources);

	window.start = is.bar;
	window.end = is.bar + is.size - 1;
	pci_add_resource(&resources, &window);
	pci_add_resource(&resources, &bus_number);
	bus = pci_create_root_bus(NULL, 0, &config_ops, &sysdata, &resources);
	if (!bus) {
		pci_free_resource_list(&resources);
		return -ENODEV;
	}
	pci_scan_child_bus(bus);
	function = pci_get_slot(bus, 0);
	if (!function)
		return -ENODEV;
	pci_bus_claim_resources(bus);
	pci_bus_add_devices(bus);
	return 0;
}

static long plug(const struct bridge_function __user *from)
{
	int err;

	if (bus)
		return -EBUSY;
	if (copy_from_user(&is, from, sizeof(is)))
		return -EFAULT;
	if (!is_power_of_2(is.size) || is.size < PAGE_SIZE || is.bar & (is.size - 1) ||
	    region_intersects(is.bar, is.size, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) != REGION_DISJOINT)
		return -EINVAL;
	pci_lock_rescan_remove();
	err = make_bus();
	pci_unlock_rescan_remove();
	return err;
}

/* Interrupts. */

static unsigned int raised;
static int handled;

/* A flow handler runs in hard interrupt context, or the kernel refuses it. */
static void handle(struct irq_work *work)
{
	handled = generic_handle_irq(raised);
}

static struct irq_work interrupt_work = IRQ_WORK_INIT_HARD(handle);

/* When it returns, the vector's handler has run, if the driver lets it run now. */
static long interrupt(unsigned long vector)
{
	int irq;

	if (!function || !function->msix_enabled)
		return -ENOTCONN;
	irq = pci_irq_vector(function, vector);
	if (irq < 0)
		return irq;
	raised = irq;
	irq_work_queue(&interrupt_work);
	irq_work_sync(&interrupt_work);
	return handled;
}

/* Memory: offsets of the file are physical addresses. */

static vm_fault_t ram_fault(struct vm_fault *vmf)
{
	if (!page_is_ram(vmf->pgoff))
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn(vmf->vma, vmf->address, vmf->pgoff);
}

static const struct vm_operations_struct ram_ops = { .fault = ram_fault };

static int bridge_mmap(struct file *file, struct vm_area_struct *vma)
{
	u64 first = (u64)vma->vm_pgoff << PAGE_SHIFT, length = vma->vm_end - vma->vm_start;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	guard(mutex)(&lock);
	if (!bus || first < is.bar || first - is.bar >= is.size) {
		vma->vm_ops = &ram_ops;
		return 0;
	}
	if (length > is.size - (first - is.bar))
		return -EINVAL;
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	return io_remap_pfn_range(vma, vma->vm_start, vma->vm_pgoff, length, vma->vm_page_prot);
}

static long bridge_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	guard(mutex)(&lock);
	switch (cmd) {
	case BRIDGE_PLUG:
		return plug((const struct bridge_function __user *)arg);
	case BRIDGE_INTERRUPT:
		return interrupt(arg);
	}
	return -ENOTTY;
}

static int bridge_open(struct inode *inode, struct file *file)
{
	guard(mutex)(&lock);
	if (taken)
		return -EBUSY;
	taken = true;
	return 0;
}

static int bridge_release(struct inode *inode, struct file *file)
{
	guard(mutex)(&lock);
	taken = false;
	return 0;
}

static const struct file_operations bridge_fops = {
	.owner = THIS_MODULE,
	.open = bridge_open,
	.release = bridge_release,
	.mmap = bridge_mmap,
	.unlocked_ioctl = bridge_ioctl,
};

static struct miscdevice bridge_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "uverbsim-bridge",
	.fops = &bridge_fops,
	.mode = 0600,
};

/* The bus stays until the machine is turned off, and so the module does. */
static int __init bridge_init(void)
{
	return misc_register(&bridge_device);
}
module_init(bridge_init);

MODULE_DESCRIPTION("uverbsim: a PCI function with a process behind it");
MODULE_LICENSE("GPL");

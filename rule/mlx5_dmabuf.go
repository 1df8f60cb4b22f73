package rule

import "syscall"

// The refusals of mr.c and odp.c of mlx5_ib: memory that other drivers export.
var (
	MLX5DmabufLength = add(Rule{"mlx5-dmabuf/length", syscall.EINVAL, "mlx5_ib_reg_user_mr_dmabuf", mlx5MR,
		"The device cannot write the list of the region's pages by work requests.",
		"Use a device that can change its keys by work requests, or register less at once."})
	MLX5DmabufDirectIOVA = add(Rule{"mlx5-dmabuf/direct-iova", syscall.EOPNOTSUPP, "reg_user_mr_dmabuf_by_data_direct", mlx5MR,
		"Memory to be reached directly is to be seen inside of a page, or to be paged on demand.",
		"Choose an iova at the beginning of a page, without IB_ACCESS_ON_DEMAND."})
	MLX5DmabufDirect = add(Rule{"mlx5-dmabuf/direct", syscall.EINVAL, "reg_user_mr_dmabuf_by_data_direct", mlx5MR,
		"The device has no second function to reach the memory directly.",
		"Leave MLX5_IB_UAPI_REG_DMABUF_ACCESS_DATA_DIRECT out."})
	MLX5DmabufPageSize = add(Rule{"mlx5-dmabuf/page-size", syscall.EINVAL, "pagefault_dmabuf_mr", mlx5ODP,
		"The memory does not lie at the same place in its pages as it is to be seen at.",
		"Choose an iova with the same low 12 bits as the offset."})
)

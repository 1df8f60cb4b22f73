# Lists what a kernel shows of its first RDMA device, for mlx5.txt and rxe.txt:
#   uverbsim guest --device mlx5 "$(cat interpose/sysfs/testdata/list.sh)"
# A line is a kind, a mode, a path, and for a link (L) where it leads, for a file
# (F) its content with \n for the end of a line, for a file that could not be read
# (E) the reason. D is a directory, B a file of binary content, W one that can only
# be written, C a character device with its number.
# Left out are power/ and the places of tables from the tenth on.
one() {
	p=$1 m=$(stat -c %a "$1")
	if [ -L "$p" ]; then
		echo "L 777 $p $(readlink "$p")"
	elif [ -d "$p" ]; then
		echo "D $m $p"
	elif [ -c "$p" ]; then
		echo "C $m $p $(stat -c '%t:%T' "$p")"
	elif [ $((0$m & 0444)) = 0 ]; then
		echo "W $m $p"
	elif [ "${p##*/}" = config ]; then
		echo "B $m $p"
	elif cat "$p" >/tmp/content 2>/tmp/reason; then
		echo "F $m $p $(awk '{ printf "%s\\n", $0 }' /tmp/content)"
	else
		echo "E $m $p $(sed 's/.*: //' /tmp/reason)"
	fi
}
device=$(ls -d /sys/class/infiniband/*)
all="/sys/class/infiniband /sys/class/infiniband_verbs /dev/infiniband"
if [ -e "$device/device" ]; then
	function=$(readlink -f "$device/device")
	all="$all $function /sys/bus/pci/devices/${function##*/}"
else
	all="$all $(readlink -f "$device") $(readlink -f /sys/class/infiniband_verbs/uverbs0)"
fi
echo "# $(uname -srm)"
find $all /sys/dev/char/231:* | grep -v -e "/power\(/\|$\)" -e "/[0-9][0-9]\{1,\}$" | sort -u | while read -r p; do one "$p"; done

# Runs two programs that meet at a TCP port.
# usage: both.sh PORT DIR "SERVER ARG..." "CLIENT ARG..."
# What the server prints is in DIR/server, the client's output is this one's.
port=$(printf %04X "$1")
$3 >"$2/server" 2>&1 &
server=$!
until grep -qs ":$port 0*:0000 0A " /proc/net/tcp /proc/net/tcp6; do
	kill -0 $server || exit 9
	sleep 0.02
done
$4 || {
	status=$?
	kill $server 2>/dev/null
	exit $status
}
wait $server

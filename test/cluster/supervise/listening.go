package supervise

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listen is the state of a TCP socket that listens, in /proc/PID/net/tcp.
const listen = "0A"

// Listening returns the TCP addresses that the process listens on, sorted, from
// /proc: on Linux only.
func (id Identity) Listening() ([]netip.AddrPort, error) {
	proc := filepath.Join("/proc", strconv.Itoa(id.PID))
	fds, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return nil, fmt.Errorf("list the sockets of process %d: %w", id.PID, err)
	}
	mine := map[string]bool{}
	for _, fd := range fds {
		target, err := os.Readlink(filepath.Join(proc, "fd", fd.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			mine[strings.TrimSuffix(inode, "]")] = true
		}
	}
	var addresses []netip.AddrPort
	for _, file := range []string{"net/tcp", "net/tcp6"} {
		b, err := os.ReadFile(filepath.Join(proc, file))
		if err != nil {
			return nil, fmt.Errorf("list the sockets of process %d: %w", id.PID, err)
		}
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != listen || !mine[f[9]] {
				continue
			}
			a, err := parseAddress(f[1])
			if err != nil {
				return nil, err
			}
			addresses = append(addresses, a)
		}
	}
	slices.SortFunc(addresses, netip.AddrPort.Compare)
	return addresses, nil
}

// parseAddress reads 0100007F:1F90: the address in words of four bytes, each
// in the order of a little-endian machine, and the port.
func parseAddress(s string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	if err != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, fmt.Errorf("parse socket address %q", s)
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	ip, ok := netip.AddrFromSlice(b)
	n, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil {
		return netip.AddrPort{}, fmt.Errorf("parse socket address %q", s)
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), nil
}

// Memory returns the memory of the process, resident now and at its highest,
// in bytes, from /proc: on Linux only.
func (id Identity) Memory() (resident, peak int64, err error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id.PID), "status"))
	if err != nil {
		return 0, 0, fmt.Errorf("read the memory of process %d: %w", id.PID, err)
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64) // 0 for what is no size
		switch name {
		case "VmRSS":
			resident = kib << 10
		case "VmHWM":
			peak = kib << 10
		}
	}
	return resident, peak, nil
}

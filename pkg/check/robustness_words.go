package check

import (
	"strings"
)

// robustElectArg tells arguments and variables that switch leader election on:
// --leader-elect, --enable-leader-election=true, LEADER_ELECTION=true.
func robustElectArg(arg string) bool {
	name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	name = strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
	if has && strings.HasPrefix(name, "leader-elect") && value != "" {
		// Where the lock is to be, or what it is called, is asked only of who takes one.
		if _, about, ok := strings.Cut(strings.TrimPrefix(name, "leader-elect"), "-"); ok && (strings.HasSuffix(about, "namespace") || strings.HasSuffix(about, "id") || strings.HasSuffix(about, "name")) {
			return true
		}
	}
	if has && !robustTrue(value) {
		return false
	}
	switch strings.TrimPrefix(name, "enable-") {
	case "leader-elect", "leader-election", "leader-election-enabled", "leader-elect-enabled":
		return true
	}
	return false
}

func robustTrue(text string) bool {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		return true
	}
	return false
}

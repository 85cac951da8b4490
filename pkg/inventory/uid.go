package inventory

import (
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/types"
)

// ParseUID returns the bytes of a UID: those of the UUID where it is one in its
// canonical form, else the head of its SHA-256, so that any string will do.
func ParseUID(s types.UID) UID {
	var u UID
	if s == "" {
		return u
	}
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		var digits [32]byte
		n := copy(digits[:], s[0:8])
		n += copy(digits[n:], s[9:13])
		n += copy(digits[n:], s[14:18])
		n += copy(digits[n:], s[19:23])
		copy(digits[n:], s[24:36])
		if _, err := hex.Decode(u[:], digits[:]); err == nil && u != (UID{}) && lower(digits[:]) {
			return u
		}
	}
	sum := sha256.Sum256([]byte(s))
	copy(u[:], sum[:])
	return u
}

func lower(b []byte) bool {
	for _, c := range b {
		if c >= 'A' && c <= 'F' {
			return false
		}
	}
	return true
}

package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// UID is a UID as bytes: a canonical UUID, or a digest of another string. The zero value is no UID.
type UID [16]byte

// ParseUID returns the bytes of a UID: those of the UUID if it is in canonical form, else the first
// 16 bytes of its SHA-256, so that every string is valid.
func ParseUID(s types.UID) UID {
	if s == "" {
		return UID{}
	}
	if u, ok := ParseUUID(s); ok {
		return u
	}
	var u UID
	sum := sha256.Sum256([]byte(s))
	copy(u[:], sum[:])
	return u
}

// ParseUUID returns the bytes of a UID that is a UUID in canonical form, so that String returns the
// same text.
func ParseUUID(s types.UID) (UID, bool) {
	var u UID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, false
	}
	var digits [32]byte
	n := copy(digits[:], s[0:8])
	n += copy(digits[n:], s[9:13])
	n += copy(digits[n:], s[14:18])
	n += copy(digits[n:], s[19:23])
	copy(digits[n:], s[24:36])
	if slices.ContainsFunc(digits[:], func(c byte) bool { return c >= 'A' && c <= 'F' }) {
		return UID{}, false
	}
	if _, err := hex.Decode(u[:], digits[:]); err != nil || u == (UID{}) {
		return UID{}, false
	}
	return u, true
}

// String returns the UUID in canonical form, or "" for no UID.
func (u UID) String() string { return string(u.format()) }

func (u UID) format() types.UID {
	if u == (UID{}) {
		return ""
	}
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:36], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return types.UID(b[:])
}

// holders finds rows by UID.
type holders struct {
	index  table
	twins  [][2]ID
	better map[ID]ID // by row in index: the row with the same UID that sorts first
}

// ByUID returns the row that was read with the UID; the first in the order of object.Compare if
// there are several.
func (inv *Inventory) ByUID(uid UID) (ID, bool) {
	if uid == (UID{}) {
		return 0, false
	}
	h := inv.holders()
	n, ok := h.find(inv, uid)
	if first, several := h.better[n]; several {
		n = first
	}
	return n, ok
}

// Twins returns pairs of rows that were read with the same UID: one object that two groups serve,
// or a UID that was used twice. The first of a pair is what ByUID returns.
func (inv *Inventory) Twins() [][2]ID { return inv.holders().twins }

func (h *holders) find(inv *Inventory, uid UID) (ID, bool) {
	n, ok := h.index.find(maphash.Comparable(seed, uid), func(n uint32) bool { return inv.rows[n].uid == uid })
	return ID(n), ok
}

// holders returns the index and builds it if needed. Add and Reset drop it, so it is never stale.
func (inv *Inventory) holders() *holders {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if inv.held != nil {
		return inv.held
	}
	h := &holders{better: map[ID]ID{}}
	same := map[ID][]ID{}
	for i := range inv.rows {
		uid := inv.rows[i].uid
		if !inv.WasRead(ID(i)) || uid == (UID{}) {
			continue
		}
		if first, taken := h.find(inv, uid); taken {
			same[first] = append(same[first], ID(i))
			continue
		}
		h.index.add(uint32(i), func(n uint32) uint64 { return maphash.Comparable(seed, inv.rows[n].uid) })
	}
	for first, rows := range same {
		rows = append(rows, first)
		slices.SortFunc(rows, func(a, b ID) int { return object.Compare(inv.Ref(a), inv.Ref(b)) })
		h.better[first] = rows[0]
		for _, other := range rows[1:] {
			h.twins = append(h.twins, [2]ID{rows[0], other})
		}
	}
	inv.held = h
	return h
}

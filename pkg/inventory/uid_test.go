package inventory

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestTwins(t *testing.T) {
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 0))
		inv := New(nil)
		for _, i := range random.Perm(6) {
			uid := types.UID("same")
			if i > 3 {
				uid = types.UID(fmt.Sprint("own", i))
			}
			inv.Add(made(ref("ns", fmt.Sprint(i)), uid, nil))
		}
		first, ok := inv.ByUID(ParseUID("same"))
		if !ok || inv.Ref(first).Name != "0" {
			t.Errorf("seed %d: the first is %v", seed, inv.Ref(first))
		}
		var pairs []string
		for _, p := range inv.Twins() {
			pairs = append(pairs, inv.Ref(p[0]).Name+inv.Ref(p[1]).Name)
		}
		if got := strings.Join(pairs, " "); got != "01 02 03" {
			t.Errorf("seed %d: twins %s", seed, got)
		}
	}
}

func TestParseUID(t *testing.T) {
	seen := map[UID]types.UID{}
	for _, uid := range []types.UID{
		uuid1, uuid2, "1", "6B1C2F9E-0B0C-4B8E-9F3A-1D2C3B4A5F60", "00000000-0000-0000-0000-000000000000",
		"6b1c2f9e-0b0c-4b8e-9f3a-1d2c3b4a5f6", "6b1c2f9e-0b0c-4b8e-9f3a-1d2c3b4a5f6g", "6b1c2f9e_0b0c-4b8e-9f3a-1d2c3b4a5f60",
		"kube-system/a static pod's hash",
	} {
		u := ParseUID(uid)
		if other, taken := seen[u]; taken || u == (UID{}) {
			t.Errorf("%q is as %q", uid, other)
		}
		seen[u] = uid
		if _, canonical := ParseUUID(uid); canonical != (uid == uuid1 || uid == uuid2) || canonical && u.String() != string(uid) {
			t.Errorf("%q: a UUID is %v, written %q", uid, canonical, u)
		}
		inv := New(nil)
		inv.Add(made(ref("ns", "a"), uid, nil))
		if inv.UID(0) != uid {
			t.Errorf("%q is kept as %q", uid, inv.UID(0))
		}
	}
	if ParseUID("") != (UID{}) || (UID{}).String() != "" {
		t.Error("no UID")
	}
	if _, ok := New(nil).ByUID(UID{}); ok {
		t.Error("found by no UID")
	}
}

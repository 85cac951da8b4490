package backup

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Keys of a record: of the ConfigMap of a backup, and of its file.
const (
	RecordKey = "backup.json"
	SpecsKey  = "system.yaml"
)

// PartsKey is the annotation of a record with its parts: evidence is read from metadata alone.
const PartsKey = "sysop.dev/backup-parts"

// recordedPart is a part in PartsKey; Backup is zero for one that was not saved.
type recordedPart struct {
	Object object.Ref `json:"object"`
	Backup object.Ref `json:"backup,omitzero"`
}

// PartsText is the value of PartsKey.
func (p *Plan) PartsText() (string, error) {
	var all []recordedPart
	for i := range p.Parts {
		all = append(all, recordedPart{p.Parts[i].Object, p.Parts[i].Backup})
	}
	for _, u := range p.Unsaved {
		all = append(all, recordedPart{Object: u.Object})
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// ParseRecord reads a record, or the same of a file.
func ParseRecord(name string, text, specs []byte) (*Plan, error) {
	p := &Plan{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("read the record %s: %w", name, err)
	}
	p.Specs = string(specs)
	return p, nil
}

// Secrets are those that the apps need and that no controller makes.
func (p *Plan) Secrets() []object.Ref {
	return slices.DeleteFunc(slices.Clone(p.Inputs), func(ref object.Ref) bool { return ref.GroupKind() != secretKind })
}

// Ready says how many parts are saved.
func (p *Plan) Ready() int {
	n := 0
	for i := range p.Parts {
		if p.Parts[i].Status == health.Healthy {
			n++
		}
	}
	return n
}

// Complete says whether all parts are saved, of which there are some.
func (p *Plan) Complete() bool { return len(p.Parts) > 0 && p.Ready() == len(p.Parts) }

// Retention is which backups are kept.
type Retention struct {
	Keep    int           // how many of each source; 0 for any number
	KeepFor time.Duration // up to which age; 0 for any age
}

// source identifies what a backup is of: the roots, or the name in a record without them, which no
// root is equal to.
type source struct{ namespace, of string }

func (p *Plan) source() source {
	if len(p.Roots) == 0 {
		return source{p.Namespace, p.Source}
	}
	var roots []string
	for _, ref := range p.Roots {
		roots = append(roots, ref.String())
	}
	slices.Sort(roots)
	return source{p.Namespace, strings.Join(slices.Compact(roots), " ")}
}

// SameSource says whether two backups are of the same System, or of the same roots.
func (p *Plan) SameSource(other *Plan) bool { return p.source() == other.source() }

// Expired returns the backups that a retention does not keep. The newest complete backup of each
// object is always kept, so that one that lacks an object never takes the place of one that has it.
// What says that it is of the future counts for nothing, and is not deleted.
func (r Retention) Expired(all []*Plan, now time.Time) []*Plan {
	seen, saved := map[source]int{}, map[source]map[object.Ref]bool{}
	var out []*Plan
	for _, p := range all { // the newest first
		s := p.source()
		if p.Time.After(now) {
			continue
		}
		seen[s]++
		if saved[s] == nil {
			saved[s] = map[object.Ref]bool{}
		}
		if p.Complete() && p.savesFirst(saved[s]) {
			continue
		}
		if r.Keep > 0 && seen[s] > r.Keep || r.KeepFor > 0 && now.Sub(p.Time) > r.KeepFor {
			out = append(out, p)
		}
	}
	return out
}

// savesFirst adds the objects of a backup to those that are saved, and says whether one was not.
func (p *Plan) savesFirst(saved map[object.Ref]bool) bool {
	first := false
	for i := range p.Parts {
		first = first || !saved[p.Parts[i].Object]
		saved[p.Parts[i].Object] = true
	}
	return first
}

package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Verification is the result of a rehearsal: a restore in a scratch namespace.
type Verification struct {
	Time   time.Time `json:"time"`
	Passed bool      `json:"passed"`
	// RecoveryTime is how long it took until all was Healthy and the check had passed, and
	// RecoveryPoint the time of the data.
	RecoveryTime  string    `json:"recoveryTime,omitempty"`
	RecoveryPoint time.Time `json:"recoveryPoint"`
	// Check is the kind of the check that ran; empty where the System has none. Message says why the
	// rehearsal failed.
	Check   string `json:"check,omitempty"`
	Message string `json:"message,omitempty"`
}

// VerifiedKey is the annotation of a record with the result of its last rehearsal.
const VerifiedKey = "sysop.dev/verified"

// RehearsalLabel is the label of a scratch namespace: the name of the backup.
const RehearsalLabel = "sysop.dev/rehearsal-of"

// Scratch maps each namespace of a backup to one of a rehearsal, which is the same for every
// rehearsal of that backup: what a killed one left is found again.
func Scratch(p *Plan) (map[string]string, error) {
	sys, problems := system.Parse("the manifest of the backup "+p.Name, []byte(p.Specs))
	if len(problems) > 0 {
		return nil, &hint.Lines{Lines: hint.Placed(p.Name, problems)}
	}
	out := map[string]string{}
	for _, name := range namespacesOf(p, sys) {
		out[name] = scratchName(name, p.Time.UTC().Format(StampFormat))
	}
	return out, nil
}

// namespacesOf are the namespaces of a backup.
func namespacesOf(p *Plan, sys *system.System) []string {
	names := []string{p.Namespace, sys.Namespace}
	for i := range sys.Apps {
		for _, root := range sys.Apps[i].Roots {
			names = append(names, root.Namespace)
		}
		for _, o := range sys.Apps[i].Resources {
			names = append(names, o.GetNamespace())
		}
	}
	for i := range p.Parts {
		names = append(names, p.Parts[i].Object.Namespace)
	}
	for _, in := range sys.Inputs {
		names = append(names, in.Namespace)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// scratchName is a DNS label.
func scratchName(namespace, stamp string) string {
	const longest = 63 - len("-verify-") - len(StampFormat)
	if len(namespace) > longest {
		sum := sha256.Sum256([]byte(namespace))
		namespace = namespace[:longest-7] + "-" + hex.EncodeToString(sum[:3])
	}
	return namespace + "-verify-" + stamp
}

// skew is how far clocks may differ.
const skew = 5 * time.Minute

// CheckTime refuses a backup of the future: by a wrong clock, ages and the newest backup are wrong as
// well.
func (p *Plan) CheckTime(now time.Time) error {
	if ahead := p.Time.Sub(now); ahead > skew {
		return hint.With(fmt.Errorf("the backup %s is of %s, which is %s ahead of the clock of this machine", p.Name, p.Time.Format(time.RFC3339), ahead.Round(time.Minute)),
			"set the clock of the machine that is wrong: this one, or the one that made the backup")
	}
	return nil
}

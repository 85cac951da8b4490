package install

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// RecoveryVerb is what recovery does to an object or release.
type RecoveryVerb string

// The verbs of recovery.
const (
	RecoverUninstall RecoveryVerb = "uninstall"
	RecoverRollback  RecoveryVerb = "roll back"
	RecoverDelete    RecoveryVerb = "delete"
	RecoverRestore   RecoveryVerb = "restore"
	// RecoverLeave leaves the object unchanged, for the reason in Note.
	RecoverLeave RecoveryVerb = "leave"
)

// RecoveryAct is one change that recovery makes.
type RecoveryAct struct {
	Verb RecoveryVerb
	// Object is the target; empty for a release.
	Object  object.Ref
	Release helm.ReleaseName
	// Revision is the target of a rollback.
	Revision int
	// Objects are the objects of a release that is uninstalled or restored.
	Objects []object.Ref
	Note    string
}

// RecoveryPlan is what recovering an open run will write.
type RecoveryPlan struct {
	Run Run
	// What is RecoveredResumed if only started steps are undone and removals completed,
	// RecoveredDone if all steps were done, RecoveredUndone if all are undone, RecoveredNothing if
	// there is no run.
	What Recovery
	Acts []RecoveryAct
	// Seen identifies the state of the run when the plan was made (Options.Seen).
	Seen string
}

// TamperedError means that the cluster contradicts the journal. Nothing was written.
type TamperedError struct {
	Installation Installation
	Step         string
	// Object is what the journal claims was created or changed; empty if the run itself is
	// concerned.
	Object object.Ref
	Why    string
}

func (e *TamperedError) Error() string {
	subject := "its run"
	if e.Object != (object.Ref{}) {
		subject = e.Object.String()
	}
	if e.Step != "" {
		subject += " (step " + e.Step + ")"
	}
	name, ns := JournalName(e.Installation.Name), e.Installation.Namespace
	return fmt.Sprintf("configmap %s/%s: the journal cannot be trusted about %s: %s; nothing was written: read it (kubectl get configmap/%s -n %s -o yaml), fix by hand what is true of it, then delete it",
		ns, name, subject, e.Why, name, ns)
}

// errOtherRun means that a journal was changed after it was shown.
var errOtherRun = errors.New("its run is not the one that was shown: its journal was changed meanwhile; run the command again")

// newRunID creates the id of a run. It ends in a hash of the installation, so that the journal of
// another installation cannot claim the id and the objects that carry it.
func newRunID(target Installation) string {
	return strings.ToLower(rand.Text()[:12]) + "-" + installationSum(target)
}

func installationSum(target Installation) string {
	sum := sha256.Sum256([]byte(target.Namespace + "/" + target.Name))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:12])
}

// ownRun reports whether the id of a run belongs to the installation.
func ownRun(id string, target Installation) bool {
	return strings.HasSuffix(id, "-"+installationSum(target))
}

// seen identifies the current state of a run.
func (r *Run) seen() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // it came from JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// PlanRecovery returns what Recover will write, and refuses a journal that the cluster contradicts
// (*TamperedError). It writes nothing and needs no lease.
func (r *Runner) PlanRecovery(ctx context.Context, target Installation, fingerprint string, o Options) (RecoveryPlan, error) {
	x := &run{Runner: r, o: o, of: target}
	var err error
	if x.j, err = r.Store.Load(ctx); err != nil {
		return RecoveryPlan{}, err
	}
	return x.planRecovery(ctx, fingerprint)
}

// planRecovery checks the run of a journal against the cluster.
func (x *run) planRecovery(ctx context.Context, fingerprint string) (RecoveryPlan, error) {
	r := x.j.Run
	if r == nil {
		return RecoveryPlan{What: RecoveredNothing}, nil
	}
	p := RecoveryPlan{Run: *r, What: x.recovers(fingerprint), Seen: r.seen()}
	if !ownRun(r.ID, x.of) {
		return p, x.tampered("", object.Ref{}, fmt.Sprintf("run ID %s does not belong to this installation: it is of another one, or of an older version", r.ID))
	}
	x.loaded, x.left = true, map[object.Ref]string{}
	if p.What == RecoveredDone {
		return p, nil
	}
	for i := len(r.Steps) - 1; i >= 0; i-- {
		s := &r.Steps[i]
		if s.Phase == Undone || s.Phase == NotUndone {
			continue
		}
		acts, err := x.heldAgainst(ctx, s)
		if err != nil {
			return p, err
		}
		last, begun, err := x.removalBegun(ctx, s)
		if err != nil {
			return p, err
		}
		if begun && p.What == RecoveredResumed {
			acts = []RecoveryAct{{Verb: RecoverUninstall, Release: last.Release, Objects: last.Objects}}
		}
		if p.What == RecoveredUndone || s.Phase == Started {
			p.Acts = append(p.Acts, acts...)
		}
	}
	return p, nil
}

// recovers returns what recovery does with the run of the journal.
func (x *run) recovers(fingerprint string) Recovery {
	switch r := x.j.Run; {
	case r.Committed:
		return RecoveredDone
	case !r.Undoing && fingerprint != "" && r.Fingerprint == fingerprint:
		return RecoveredResumed
	}
	return RecoveredUndone
}

func (x *run) tampered(step string, ref object.Ref, reason string) error {
	return &TamperedError{Installation: x.of, Step: step, Object: ref, Why: reason}
}

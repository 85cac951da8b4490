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

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// RecoveryVerb is what recovering a run does to something.
type RecoveryVerb string

// What recovering a run does.
const (
	RecoverUninstall RecoveryVerb = "uninstall"
	RecoverRollback  RecoveryVerb = "roll back"
	RecoverDelete    RecoveryVerb = "delete"
	RecoverRestore   RecoveryVerb = "restore"
	// RecoverLeave says that something stays as it is, for the reason of the note.
	RecoverLeave RecoveryVerb = "leave"
)

// RecoveryAct is one thing that recovering a run does.
type RecoveryAct struct {
	Verb RecoveryVerb
	// Object is who it is done to; for a release it is empty.
	Object  object.Ref
	Release ReleaseName
	// Revision is the one that a release goes back to.
	Revision int
	// Objects are those of a release that are uninstalled, or brought back.
	Objects []object.Ref
	Note    string
}

// RecoveryPlan is what recovering a run that is not ended will write.
type RecoveryPlan struct {
	Run Run
	// What is RecoveredResumed where only what was started is undone, or a removal is finished, RecoveredDone where all was
	// done, RecoveredUndone where all is undone, RecoveredNothing where there is no run.
	What Recovery
	Acts []RecoveryAct
	// Seen identifies the run as it was when the plan was made (Options.Seen).
	Seen string
}

// TamperedError says that a journal tells of something that the cluster does not bear out.
// Nothing was written.
type TamperedError struct {
	Installation Installation
	Step         string
	// Object is what the journal says was made or changed; empty where it is about the run.
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

// errOtherRun says that a journal was changed after it was looked at.
var errOtherRun = errors.New("its run is not the one that was shown: its journal was changed meanwhile; run the command again")

// newRunID makes the id of a run of an installation. Its end is a sum of the installation, so
// that a journal somewhere else cannot take the id, and with it what carries it, for its own.
func newRunID(target Installation) string {
	return strings.ToLower(rand.Text()[:12]) + "-" + installationSum(target)
}

func installationSum(target Installation) string {
	sum := sha256.Sum256([]byte(target.Namespace + "/" + target.Name))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:12])
}

// ownRun says that the id of a run is one of the installation.
func ownRun(id string, target Installation) bool {
	return strings.HasSuffix(id, "-"+installationSum(target))
}

// seen identifies a run as it is.
func (r *Run) seen() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // it came from JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// PlanRecovery says what Recover will write, and refuses what the cluster does not bear out
// (*TamperedError). It writes nothing and needs no lock.
func (r *Runner) PlanRecovery(ctx context.Context, target Installation, fingerprint string, o Options) (RecoveryPlan, error) {
	x := &run{Runner: r, o: o, of: target}
	var err error
	if x.j, err = r.Store.Load(ctx); err != nil {
		return RecoveryPlan{}, err
	}
	return x.planRecovery(ctx, fingerprint)
}

// planRecovery holds the run of a journal that was read against the cluster.
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

// recovers says what becomes of the run of the journal.
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

package regulator

import (
	"errors"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// errUnsigned refuses to act by an unsigned journal without consent.
var errUnsigned = errors.New("the journal is not signed, and it says that apps are held: nothing was done, since any user who may write ConfigMaps may have written it")

// reportDistrust reports once why the journal may not be trusted.
func (b *Session) reportDistrust() {
	text := ""
	switch name := system.JournalName(b.System.Name); {
	case b.distrusted || b.request.Distrusted == nil:
		return
	case b.Journal.Trust() == journal.Unverified:
		text = fmt.Sprintf("the journal is not verified: you may not read its key (get of secret %s in %s), so someone else may have written it; nothing can be done with it", journal.KeyName(name), b.Namespace)
	case b.Journal.NeedsConsent():
		text = fmt.Sprintf("the journal is not signed (configmap %s in %s): an older version wrote it, or a user who may not write Secrets; what it holds is recovered only if you confirm it, and then the journal is signed", name, b.Namespace)
	default:
		return
	}
	b.distrusted = true
	b.request.Distrusted(text, regulate.PendingIn(b.Journal))
}

// Accept records that the user saw the plan and agreed, so the journal is trusted as it is.
func (b *Session) Accept() {
	if b.Journal.NeedsConsent() {
		b.Store.Accept(b.Journal)
	}
}

// requireTrust refuses to act by an unsigned journal without consent.
func (b *Session) requireTrust(r ApplyRequest) error {
	switch {
	case !b.Journal.NeedsConsent() || r.DryRun == DryRunServer:
		return nil
	case !r.AcceptUnsigned:
		return hint.With(errUnsigned, "see kubectl sysop regulate status; without --yes it is listed for you to confirm, --yes --accept-unsigned accepts it")
	}
	b.Accept()
	return nil
}

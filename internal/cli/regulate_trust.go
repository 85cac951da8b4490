package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// errUnsigned refuses to act by an unsigned journal without consent.
var errUnsigned = errors.New("the journal is not signed, and it says that apps are held: nothing was done, since any user who may write ConfigMaps may have written it")

// trusting adds the flag of what is done by a journal that is not signed.
func (o *applyOptions) trusting(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.acceptUnsigned, "accept-unsigned", false, "with --yes: accept an unsigned journal (of an older version, or of a user who may not write Secrets)")
}

// trust tells once on standard error how far the journal is to be believed, where it is not
// signed.
func (b *systemSession) trust() {
	text := ""
	switch name := system.JournalName(b.System.Name); {
	case b.distrusted:
		return
	case b.journal.Trust() == journal.Unverified:
		text = fmt.Sprintf("the journal is not verified: you may not read its key (get of secret %s in %s), so someone else may have written it; nothing can be done with it", journal.KeyName(name), b.Namespace)
	case b.journal.NeedsConsent():
		text = fmt.Sprintf("the journal is not signed (configmap %s in %s): an older version wrote it, or a user who may not write Secrets; what it holds is recovered only if you confirm it, and then the journal is signed", name, b.Namespace)
	default:
		return
	}
	b.distrusted = true
	fmt.Fprintf(b.o.env.ErrOut, "warning: %s\n", safe(text))
	for _, line := range regulate.PendingIn(b.journal) {
		fmt.Fprintf(b.o.env.ErrOut, "  %s\n", safe(line))
	}
}

// accept records that the user saw the plan and agreed, so the journal is trusted as it is.
func (b *systemSession) accept() {
	if b.journal.NeedsConsent() {
		b.store.Accept(b.journal)
	}
}

// believed refuses to act by an unsigned journal without consent.
func (o *applyOptions) believed(b *systemSession) error {
	switch {
	case !b.journal.NeedsConsent() || o.dryRun == "server":
		return nil
	case !o.acceptUnsigned:
		return hint.With(errUnsigned, "see kubectl sysop regulate status; without --yes it is listed for you to confirm, --yes --accept-unsigned accepts it")
	}
	b.accept()
	return nil
}

package pages

import (
	"context"
	"time"
)

// Runner runs the commands of pages.
type Runner struct {
	// Plugin is the binary that is kubectl-sysop and kubectl_complete-sysop on the PATH.
	Plugin string
	// Kubectl is the kubectl of the PATH. Without one it is a script that knows nothing but
	// "kubectl sysop".
	Kubectl string
	// Kubeconfig is that of a cluster. Without one it names a file that is not there.
	Kubeconfig string
	// Env has more variables, NAME=VALUE.
	Env []string
	// Timeout is how long one command of a console block, or one script, may take; a minute
	// if it is 0.
	Timeout time.Duration
	// Update writes what commands print into the page instead of telling of it.
	Update bool
}

// Result is what came of a page.
type Result struct {
	// Ran counts the commands of console blocks and the scripts that were run.
	Ran int
	// Findings are what was not as the page has it. After a command that failed or hung, the
	// rest of the page is not run.
	Findings []Finding
	// Updated is what Update changed in the file.
	Updated []Finding
}

// Run runs a page, whether or not it needs a cluster. The error is of the runner itself
// (no bash, no folder); what is wrong with the page is in the result.
func (r Runner) Run(ctx context.Context, p Page) (Result, error) {
	return Result{}, nil
}

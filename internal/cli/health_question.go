package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

func statusNames() []string {
	var names []string
	for _, s := range health.Statuses() {
		names = append(names, string(s))
	}
	return names
}

// statusNamed is the status of a name, in letters of any case; empty for none.
func statusNamed(name string) health.Status {
	for _, s := range health.Statuses() {
		if strings.EqualFold(string(s), name) {
			return s
		}
	}
	return ""
}

// question reads the flags, before anything is read.
func (o *healthOptions) question(ctx context.Context) (*app.HealthRequest, error) {
	selector, err := app.ParseSelector(o.selector)
	if err != nil {
		return nil, err
	}
	q := &app.HealthRequest{Args: o.args, All: o.all, Since: o.since, Watch: o.watch, Selector: selector}
	if q.Rules, err = o.rules.Read(ctx); err != nil {
		return nil, err
	}
	if o.server, err = o.PrometheusOptions.Server(ctx); err != nil {
		return nil, err
	}
	if o.wait != "" {
		if q.Want = statusNamed(o.wait); q.Want == "" {
			return nil, hint.With(fmt.Errorf("unknown status %q of --wait", o.wait), "write one of "+strings.Join(statusNames(), ", "))
		}
	}
	switch {
	case o.since < 0:
		return nil, fmt.Errorf("--since %s: expected a duration in the past, such as 30m", o.since)
	case o.timeout <= 0:
		return nil, fmt.Errorf("--timeout %s: expected more than 0", o.timeout)
	case o.watch && q.Want != "":
		return nil, errors.New("--watch and --wait exclude each other")
	case o.watch && o.From != "":
		return nil, errors.New("--watch: a snapshot does not change")
	case o.server.Address != "" && (o.watch || o.all):
		return nil, errors.New("--prometheus is asked once, about stacks: it takes neither --watch nor --all")
	case o.all && (len(o.args) > 0 || q.Want != ""):
		return nil, errors.New("--all shows every object: it takes no ROOT and no --wait")
	case q.Want != "" && len(o.args) == 1 && statusNamed(o.args[0]) != "":
		return nil, hint.With(fmt.Errorf("%s is not a root", o.args[0]), "write --wait="+o.args[0])
	case o.selector != "" && len(o.args) == 0:
		return nil, errors.New("--selector chooses among all of a TYPE: name one")
	}
	return q, nil
}

package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

// Messages of the API server that no field of its responses expresses: k8s.io/apiserver,
// pkg/endpoints/handlers/responsewriters (forbidden), pkg/admission/plugin/webhook/errors (dry
// runs), pkg/admission/plugin/webhook/... (failed calling), and rbac's escalation check.
var (
	mayNot     = lazyregexp.New(`(User|user) ".*" cannot (create|patch|update|get) resource`)
	escalates  = lazyregexp.New(`is attempting to grant RBAC permissions not currently held`)
	noDryRun   = lazyregexp.New(`admission webhook "([^"]*)" does not support dry run`)
	failedCall = lazyregexp.New(`failed calling webhook "([^"]*)"`)
	duplicate  = lazyregexp.New(`duplicate entries for key`)
)

// triedOf separates a refusal of the object from errors that do not concern it: the user lacks
// permission, or the server or a webhook is unavailable.
func triedOf(err error) DryRunResult {
	status, isStatus := apiStatus(err)
	message := oneLine(err)
	switch webhook := noDryRun.FindStringSubmatch(message); {
	case !isStatus:
		return DryRunResult{Unknown: "the dry run failed: " + message}
	case webhook != nil:
		return DryRunResult{Unknown: fmt.Sprintf("the admission webhook %s does not support dry runs", webhook[1])}
	case apierrors.IsForbidden(err) && mayNot.MatchString(message):
		return DryRunResult{Unknown: "you do not have permission to try it: " + message}
	case apierrors.IsForbidden(err) && escalates.MatchString(message):
		return DryRunResult{Unknown: "you do not have the permissions that it grants, so you may not grant them: " + message}
	case status.Code == http.StatusMethodNotAllowed, status.Code == http.StatusUnsupportedMediaType:
		return DryRunResult{Unknown: "the API that serves it supports no dry run of this kind: " + message}
	}
	if strings.Contains(message, illTyped) {
		return DryRunResult{Reason: string(metav1.StatusReasonInvalid), Message: message, Code: int(status.Code)}
	}
	if called := failedCall.FindStringSubmatch(message); called != nil {
		return DryRunResult{Unknown: fmt.Sprintf("the admission webhook %s did not answer, and while it does not the object is refused: %s", called[1], message)}
	}
	if status.Code >= http.StatusInternalServerError || status.Code == http.StatusTooManyRequests || status.Code == http.StatusUnauthorized {
		return DryRunResult{Unknown: "the dry run failed: " + message}
	}
	reason := string(status.Reason)
	if reason == "" {
		reason = http.StatusText(int(status.Code))
	}
	return DryRunResult{Reason: reason, Message: message, Code: int(status.Code)}
}

// illTyped is how server-side apply reports a field of a wrong type, with the status of an internal
// error although a retry cannot succeed.
const illTyped = "failed to create typed patch object"

func apiStatus(err error) (metav1.Status, bool) {
	var status apierrors.APIStatus
	if errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &status) {
		return metav1.Status{}, false
	}
	return status.Status(), true
}

// oneLine returns an error as one line of limited length. Unlike say it keeps the name of the
// object, which is the evidence.
func oneLine(err error) string {
	msg := strings.Join(strings.Fields(err.Error()), " ")
	const long = 1000
	if runes := []rune(msg); len(runes) > long {
		msg = string(runes[:long-3]) + "..."
	}
	return msg
}

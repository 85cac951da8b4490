package definition

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// A field is imperative where setting it makes something happen once, instead of declaring a
// state. No schema marks such fields, and many names only sound imperative:
//
//   - the fields of pods (command, args, restartPolicy) are Kubernetes' own;
//   - the action of a rule (allow, deny, keep, replace) applies whenever the rule matches;
//   - stop, paused and suspend: a state, which lasts until it is changed;
//   - restartOnChange, forceSync, cleanupPolicy: how an action runs, not a request for one;
//   - kinds that are one action each (Backup, Workflow, OpsRequest) are the right way to request
//     an action: they stay as the record of it.
//
// So a name alone counts only where it can hardly mean anything else (restartNow, a boolean
// restart); for all others the values or the description must show it.

// imperativeKinds are the ends of kinds whose objects are one action each.
var imperativeKinds = pattern(`(Request|Run|Job|Task|Operation|Action|Backup|Restore|Recovery|Experiment|Chaos|Workflow|Execution|Test|Migration|Snapshot|Command|Order|Challenge|Upgrade|Rebalance|Replay|Export|Import)$`)

// imperativeVerbs are values of a field that trigger an action.
var imperativeVerbs = map[string]bool{
	"start": true, "stop": true, "restart": true, "reboot": true, "reload": true, "resync": true, "redeploy": true, "rollback": true,
	"failover": true, "switchover": true, "promote": true, "demote": true, "rebuild": true, "repair": true, "reset": true,
	"backup": true, "restore": true, "upgrade": true, "downgrade": true, "scale": true, "scaleup": true, "scaledown": true,
	"run": true, "execute": true, "trigger": true, "cleanup": true, "install": true, "uninstall": true, "shutdown": true,
	"poweron": true, "poweroff": true, "rotate": true, "rebalance": true, "compact": true, "flush": true, "resume": true, "pause": true,
}

var (
	// imperativeFlag are booleans that can only mean an action.
	imperativeFlag = pattern(`^(restart|reboot|redeploy|rerun|retrigger|resync|trigger|run|execute|rollback)$|(?i:^(force)?(rolling)?(restart|reboot|redeploy|rerun|resync|rebuild|reload|rollout|failover|switchover|backup|restore|upgrade|repair)requested$)|` +
		`^force(Rolling)?(Restart|Reboot|Redeploy|Resync|Failover|Switchover|Reconcile|Reload|Rollout)$|` +
		`^(run|do|perform|execute|trigger|start|take|make|request)(Full)?(Restart|Backup|Restore|Upgrade|Rollback|Failover|Switchover|Reload|Cleanup|Repair|Sync|Resync|Rebalance|Reset|Snapshot|Dump|Rebuild|Build|Reboot|Deploy|Redeploy|Compaction)$`)
	// imperativeNow are names, of fields of any type, that trigger an action at once.
	imperativeNow = pattern(`^([a-z]+[A-Z][a-zA-Z]*|[a-z]{3,})Now$`)
	// imperativeNonce are texts and numbers whose every change triggers an action.
	imperativeNonce = pattern(`(?i)^(force)?(re-?start|re-?deploy(ment)?|re-?boot|re-?load|re-?sync|re-?run|rollout|savepoint|failover|restore|upgrade|backup|reconcile)\w*?(nonce|token|trigger|reason|counter)$|TriggerNonce$`)
	// imperativeChosen are fields whose values show whether they trigger an action.
	imperativeChosen = pattern(`^(action|command|operation|verb|order|(desired|requested|admin)(Action|Command|Operation))$`)
	// imperativeOnce are words of a description by which an operator resets the value that
	// users set, so that it is no desired state.
	imperativeOnce = pattern(`(?i)(set|reset|revert|switch|turn|flip|chang)(s|ed|ted|ped|es)?( it| this| the (field|flag|value))? (back )?to false (once|after|when|by the|as soon)|back to false|automatically (reset|cleared|unset)|(cleared|unset|removed) by the (operator|controller) (once|after|when)|one[- ](time|shot) (action|operation|trigger|restart)`)
	// imperativeIf are words by which an action runs only under a condition.
	imperativeIf = pattern(`(?i)\b(if|when|whenever|upon|on failure|in case|fails?|violat\w+)\b`)
	// imperativeRule are words of a description that make an action part of a rule.
	imperativeRule = pattern(`(?i)\b(allow|deny|drop|reject|keep|match|rule|polic|if |when|traffic|request|relabel|violat|enforc|alert|on failure|fails)`)
)

// crdImperative finds fields of the spec that trigger actions.
func crdImperative(d *check.Definition, r *check.Result) {
	v := preferred(d)
	tops := schemaDesired(v)
	if len(tops) == 0 {
		return
	}
	if imperativeKinds().MatchString(d.Kind.Kind) {
		r.Pass(d.Ref)
		return
	}
	found := false
	schemaOwn(v, func(n *schemaNode) {
		reason, severity := imperativeWhy(n)
		if reason == "" {
			return
		}
		found = true
		r.AddFinding(check.Finding{
			Severity: severity, Object: d.Ref, Field: schemaField(v), Value: n.path(),
			Message: n.path() + " triggers an action instead of declaring the desired state (" + reason + "): applied again from Git, it runs again, or never",
		})
	})
	if !found {
		r.Pass(d.Ref)
	}
}

// imperativeWhy returns the reason why a field is imperative, and the severity; empty where it
// is not. A nonce can be applied twice without harm, and a name alone is weak evidence.
func imperativeWhy(n *schemaNode) (string, check.Severity) {
	if !n.field() {
		return "", 0
	}
	switch n.props.Type {
	case "boolean":
		switch {
		case imperativeFlag().MatchString(n.name), imperativeNow().MatchString(n.name):
			return "a boolean that is named like an action", check.Warning
		case imperativeOnce().MatchString(n.props.Description):
			return "its description says that it is reset once done", check.Warning
		}
	case "string", "integer", "number":
		switch {
		case imperativeNow().MatchString(n.name):
			return "its name says now", check.Warning
		case imperativeNonce().MatchString(n.name):
			return "any change of its value triggers it", check.Info
		case n.props.Type == "string" && imperativeChosen().MatchString(n.name):
			return imperativeValues(n)
		}
	case "object":
		// Argo CD's Application has an operation next to its spec.
		if n.depth() == 1 && n.name == "operation" {
			return "an operation outside of the spec", check.Warning
		}
	}
	return "", 0
}

// imperativeValues reports whether the values of a field are actions.
func imperativeValues(n *schemaNode) (string, check.Severity) {
	// An action within a list is part of a rule.
	listed := false
	for at := n.up; at != nil; at = at.up {
		listed = listed || !at.field() && at.name != ""
	}
	var verbs []string
	for _, raw := range n.props.Enum {
		text := strings.Trim(string(raw.Raw), `"`)
		if imperativeVerbs[strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(text))] {
			verbs = append(verbs, text)
		}
	}
	if len(verbs) > 1 && !listed && !imperativeIf().MatchString(n.props.Description) {
		return "its values are " + strings.Join(verbs, ", "), check.Warning
	}
	if imperativeOfContainer(n) {
		return "", 0
	}
	// Without values only an action on the whole object is clear.
	if len(n.props.Enum) > 0 || listed || n.depth() > 2 || !slices.Contains([]string{"action", "command", "operation"}, n.name) || imperativeRule().MatchString(n.props.Description) {
		return "", 0
	}
	return "a string that is named " + n.name, check.Info
}

// imperativeOfContainer reports whether a field is next to those of a container, a step or a
// hook, where a command is that of a process.
func imperativeOfContainer(n *schemaNode) bool {
	if n.up == nil {
		return false
	}
	siblings := n.up.props.Properties
	for _, name := range []string{"image", "args", "env", "script", "shell", "workingDir", "container", "containers", "entrypoint"} {
		if _, ok := siblings[name]; ok && name != n.name {
			return true
		}
	}
	return false
}

package check

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

// A field is an order, and no wish, where setting it makes something happen once. Nothing
// in a schema says so outright, and many names sound like orders that are none:
//
//   - what tells how pods are run (command, args, restartPolicy) is Kubernetes' own;
//   - the action of a rule (allow, deny, keep, replace) says what holds whenever it matches;
//   - stop, paused and suspend: a state, which holds until it is changed;
//   - restartOnChange, forceSync, cleanupPolicy: how things are done, not that they be done;
//   - kinds that are one deed each (Backup, Workflow, OpsRequest) are the right way to ask
//     for a deed: they stay as the record of it.
//
// So a name alone counts only where it can hardly mean anything else (restartNow, a boolean
// restart); for the others their values or their description must say it.

// imperativeDeeds are the ends of kinds of which an object is one deed.
var imperativeDeeds = lazyregexp.New(`(Request|Run|Job|Task|Operation|Action|Backup|Restore|Recovery|Experiment|Chaos|Workflow|Execution|Test|Migration|Snapshot|Command|Order|Challenge|Upgrade|Rebalance|Replay|Export|Import)$`)

// imperativeVerbs are values of a field by which somebody orders a deed.
var imperativeVerbs = map[string]bool{
	"start": true, "stop": true, "restart": true, "reboot": true, "reload": true, "resync": true, "redeploy": true, "rollback": true,
	"failover": true, "switchover": true, "promote": true, "demote": true, "rebuild": true, "repair": true, "reset": true,
	"backup": true, "restore": true, "upgrade": true, "downgrade": true, "scale": true, "scaleup": true, "scaledown": true,
	"run": true, "execute": true, "trigger": true, "cleanup": true, "install": true, "uninstall": true, "shutdown": true,
	"poweron": true, "poweroff": true, "rotate": true, "rebalance": true, "compact": true, "flush": true, "resume": true, "pause": true,
}

var (
	// imperativeFlag are booleans that can only mean a deed.
	imperativeFlag = lazyregexp.New(`^(restart|reboot|redeploy|rerun|retrigger|resync|trigger|run|execute|rollback)$|(?i:^(force)?(rolling)?(restart|reboot|redeploy|rerun|resync|rebuild|reload|rollout|failover|switchover|backup|restore|upgrade|repair)requested$)|` +
		`^force(Rolling)?(Restart|Reboot|Redeploy|Resync|Failover|Switchover|Reconcile|Reload|Rollout)$|` +
		`^(run|do|perform|execute|trigger|start|take|make|request)(Full)?(Restart|Backup|Restore|Upgrade|Rollback|Failover|Switchover|Reload|Cleanup|Repair|Sync|Resync|Rebalance|Reset|Snapshot|Dump|Rebuild|Build|Reboot|Deploy|Redeploy|Compaction)$`)
	// imperativeNow are names of any type that ask for a deed at once.
	imperativeNow = lazyregexp.New(`^([a-z]+[A-Z][a-zA-Z]*|[a-z]{3,})Now$`)
	// imperativeNonce are texts and numbers of which any change is an order.
	imperativeNonce = lazyregexp.New(`(?i)^(force)?(re-?start|re-?deploy(ment)?|re-?boot|re-?load|re-?sync|re-?run|rollout|savepoint|failover|restore|upgrade|backup|reconcile)\w*?(nonce|token|trigger|reason|counter)$|TriggerNonce$`)
	// imperativeChosen are fields whose values show whether they trigger an action.
	imperativeChosen = lazyregexp.New(`^(action|command|operation|verb|order|(desired|requested|admin)(Action|Command|Operation))$`)
	// imperativeOnce are words of a description by which an operator takes back what users
	// set: then it was no wish.
	imperativeOnce = lazyregexp.New(`(?i)(set|reset|revert|switch|turn|flip|chang)(s|ed|ted|ped|es)?( it| this| the (field|flag|value))? (back )?to false (once|after|when|by the|as soon)|back to false|automatically (reset|cleared|unset)|(cleared|unset|removed) by the (operator|controller) (once|after|when)|one[- ](time|shot) (action|operation|trigger|restart)`)
	// imperativeIf are words by which an action runs only when something else happens.
	imperativeIf = lazyregexp.New(`(?i)\b(if|when|whenever|upon|on failure|in case|fails?|violat\w+)\b`)
	// imperativeRule are words of a description by which an action is that of a rule.
	imperativeRule = lazyregexp.New(`(?i)\b(allow|deny|drop|reject|keep|match|rule|polic|if |when|traffic|request|relabel|violat|enforc|alert|on failure|fails)`)
)

// crdImperative looks for fields of the spec that are orders.
func crdImperative(d *Definition, r *Result) {
	v := d.preferred()
	tops := schemaDesired(v)
	if len(tops) == 0 {
		return
	}
	if imperativeDeeds.MatchString(d.Kind.Kind) {
		r.Pass(d.Ref)
		return
	}
	found := false
	schemaOwn(v, func(n *schemaNode) {
		why, severity := imperativeWhy(n)
		if why == "" {
			return
		}
		found = true
		r.AddFinding(Finding{
			Severity: severity, Object: d.Ref, Field: schemaField(v), Value: n.path(),
			Message: n.path() + " triggers an action instead of declaring the desired state (" + why + "): applied again from Git, it runs again, or never",
		})
	})
	if !found {
		r.Pass(d.Ref)
	}
}

// imperativeWhy says why a field is an order, and how grave that is; nothing where it is
// none. Nonces can be applied twice without harm, and a bare name is less than a proof.
func imperativeWhy(n *schemaNode) (string, Severity) {
	if !n.field() {
		return "", 0
	}
	switch n.props.Type {
	case "boolean":
		switch {
		case imperativeFlag.MatchString(n.name), imperativeNow.MatchString(n.name):
			return "a boolean that is named like an action", Warning
		case imperativeOnce.MatchString(n.props.Description):
			return "its description says that it is reset once done", Warning
		}
	case "string", "integer", "number":
		switch {
		case imperativeNow.MatchString(n.name):
			return "its name says now", Warning
		case imperativeNonce.MatchString(n.name):
			return "any change of its value triggers it", Info
		case n.props.Type == "string" && imperativeChosen.MatchString(n.name):
			return imperativeValues(n)
		}
	case "object":
		// Argo CD's Application has an operation beside its spec.
		if n.depth() == 1 && n.name == "operation" {
			return "an operation outside of the spec", Warning
		}
	}
	return "", 0
}

// imperativeValues says whether the values of an action are deeds.
func imperativeValues(n *schemaNode) (string, Severity) {
	// An action within a list is that of a rule.
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
	if len(verbs) > 1 && !listed && !imperativeIf.MatchString(n.props.Description) {
		return "its values are " + strings.Join(verbs, ", "), Warning
	}
	if imperativeOfContainer(n) {
		return "", 0
	}
	// Without values only an action of the whole object is clear.
	if len(n.props.Enum) > 0 || listed || n.depth() > 2 || !slices.Contains([]string{"action", "command", "operation"}, n.name) || imperativeRule.MatchString(n.props.Description) {
		return "", 0
	}
	return "a string that is named " + n.name, Info
}

// imperativeOfContainer says that a field stands beside those of a container, a step or a
// hook, where a command is that of a process.
func imperativeOfContainer(n *schemaNode) bool {
	if n.up == nil {
		return false
	}
	beside := n.up.props.Properties
	for _, name := range []string{"image", "args", "env", "script", "shell", "workingDir", "container", "containers", "entrypoint"} {
		if _, ok := beside[name]; ok && name != n.name {
			return true
		}
	}
	return false
}

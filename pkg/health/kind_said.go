package health

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stated is a condition. The built-in kinds have a type each, with the same fields.
type stated struct {
	kind, status, reason, message string
	since                         time.Time
}

func (c stated) yes() bool   { return c.status == "True" }
func (c stated) no() bool    { return c.status == "False" }
func (c stated) found() bool { return c.kind != "" }

// as returns a health with the reason and message of a condition, or the given ones if it has none.
func (c stated) as(status Status, reason, message string) Health {
	return Health{Status: status, Reason: or(c.reason, reason), Message: or(c.message, message), Since: c.since}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// find returns the first condition of a kind.
func find[C any, K ~string](all []C, kind K, read func(*C) stated) stated {
	for i := range all {
		if c := read(&all[i]); c.kind == string(kind) {
			return c
		}
	}
	return stated{}
}

func saidOf(c *metav1.Condition) stated {
	return stated{c.Type, string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfDeployment(c *appsv1.DeploymentCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfReplicaSet(c *appsv1.ReplicaSetCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfController(c *corev1.ReplicationControllerCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfPod(c *corev1.PodCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfJob(c *batchv1.JobCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfClaim(c *corev1.PersistentVolumeClaimCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfNode(c *corev1.NodeCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfNamespace(c *corev1.NamespaceCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfAutoscaler(c *autoscalingv2.HorizontalPodAutoscalerCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

func saidOfFlowSchema(c *flowcontrolv1.FlowSchemaCondition) stated {
	return stated{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
}

// saidOfRequest reads a condition of a CertificateSigningRequest: in older versions it had no
// status, and meant True.
func saidOfRequest(c *certificatesv1.CertificateSigningRequestCondition) stated {
	since := c.LastTransitionTime.Time
	if since.IsZero() {
		since = c.LastUpdateTime.Time
	}
	return stated{string(c.Type), or(string(c.Status), "True"), c.Reason, c.Message, since}
}

// saidIn finds a condition in the maps of an object.
func saidIn(status map[string]any, kind string) stated {
	all, _ := status["conditions"].([]any)
	for _, one := range all {
		c, _ := one.(map[string]any)
		text := func(key string) string { v, _ := c[key].(string); return v }
		if text("type") != kind {
			continue
		}
		since, _ := time.Parse(time.RFC3339, text("lastTransitionTime")) // zero if absent
		return stated{kind, text("status"), text("reason"), text("message"), since}
	}
	return stated{}
}

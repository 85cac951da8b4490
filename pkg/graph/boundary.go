package graph

import "github.com/kubectl-sysop/kubectl-sysop/pkg/object"

// IsBoundary reports whether stacks end at the object. Boundaries are shared by the cluster: to
// follow one would join every stack that uses it.
func IsBoundary(r object.Ref) bool {
	switch r.Group {
	case "":
		switch r.Kind {
		case "Node", "Namespace":
			return true
		case "ServiceAccount":
			return r.Name == "default"
		case "ConfigMap":
			return r.Name == "kube-root-ca.crt"
		case "Service": // the API server, which any client may call
			return r.Namespace == "default" && r.Name == "kubernetes"
		}
	case "storage.k8s.io":
		return r.Kind == "StorageClass" || r.Kind == "VolumeAttributesClass" || r.Kind == "CSIDriver"
	case "snapshot.storage.k8s.io":
		return r.Kind == "VolumeSnapshotClass"
	case "networking.k8s.io":
		return r.Kind == "IngressClass"
	case "gateway.networking.k8s.io":
		return r.Kind == "GatewayClass"
	case "scheduling.k8s.io":
		return r.Kind == "PriorityClass"
	case "node.k8s.io":
		return r.Kind == "RuntimeClass"
	case "resource.k8s.io":
		return r.Kind == "DeviceClass"
	case "flowcontrol.apiserver.k8s.io":
		return r.Kind == "PriorityLevelConfiguration"
	case "rbac.authorization.k8s.io":
		return r.Kind == "ClusterRole" || r.Kind == "User" || r.Kind == "Group" // subjects that are no objects, too
	case "apiextensions.k8s.io":
		return r.Kind == "CustomResourceDefinition"
	}
	return false
}

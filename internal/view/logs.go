package view

// LogLineDocument is a line of the log of a container (docs/schema/logs.json).
type LogLineDocument struct {
	Head      `json:",inline"`
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	Node      string `json:"node,omitempty"`
	Time      string `json:"time,omitempty"`
	Message   string `json:"message"`
	// Cut is how many bytes of a line that is too long are missing at its end.
	Cut int `json:"cut,omitempty"`
}

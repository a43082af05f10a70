package attempt

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestOnlyAConnectionCanHaveBroughtTheRequest(t *testing.T) {
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	defer live.Close()
	tests := []struct {
		name, url string
		want      bool
	}{
		{"the other side broke off", live.URL, true},
		{"nobody listens", gone.URL, false},
	}
	for _, tt := range tests {
		req, err := http.NewRequest(http.MethodPost, tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req, watch := Watch(req)
		if _, err := http.DefaultClient.Do(req); err == nil {
			t.Errorf("%s: the request succeeded", tt.name)
		}
		if got := watch.MayHaveArrived(); got != tt.want {
			t.Errorf("%s: MayHaveArrived = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		header string
		want   time.Duration
	}{
		{"", 0},
		{"7", 7 * time.Second},
		{"0", 0},
		{"-7", 0},
		{"soon", 0},
		{"99999999", MaxRetry},
		{"99999999999999999999", 0},
		{now.Add(time.Minute).Format(http.TimeFormat), time.Minute},
		{now.Add(-time.Minute).Format(http.TimeFormat), 0},
	}
	for _, tt := range tests {
		if got := RetryAfter(http.Header{"Retry-After": {tt.header}}, now); got != tt.want {
			t.Errorf("RetryAfter(%q) = %v, want %v", tt.header, got, tt.want)
		}
	}
}

package app

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/certs"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/version"
)

// NewRegistry has what every process tells of itself.
func NewRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// measured is what belongs to no package of rules and has metrics all the same.
type measured struct {
	pool   *pgxpool.Pool
	memory *budget.Budget
	proofs *postgres.Replay
	keeper *certs.Keeper // nil where a proxy does TLS
	now    func() time.Time
}

func (m measured) register(reg prometheus.Registerer) {
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "anet_hub_build", Help: "1, labelled with the build."}, []string{"version", "commit"})
	build.WithLabelValues(version.Version, version.Commit).Set(1)
	reg.MustRegister(build,
		gauge("clock_seconds", "The time this process goes by, as seconds since 1970.", func() float64 { return float64(m.now().UnixMilli()) / 1000 }),
		gauge("memory_bytes", "Bytes of bodies and answers in flight.", func() float64 { return float64(m.memory.Used()) }),
		gauge("memory_bytes_limit", "Bytes of bodies and answers that may be in flight.", func() float64 { return float64(m.memory.Size()) }),
		gauge("replay_requests", "Signed requests that are remembered, of all processes.", func() float64 { return float64(m.proofs.Remembered()) }),
		gauge("replay_requests_limit", "Signed requests that may be remembered.", func() float64 { return float64(m.proofs.Limit()) }),
	)
	m.registerPool(reg)
	if m.keeper != nil {
		reg.MustRegister(gauge("certificate_expiry_timestamp_seconds", "When the first of the certificates ends; 0 while one is missing.",
			func() float64 { return float64(max(m.keeper.Expiry().Unix(), 0)) }))
	}
}

func (m measured) registerPool(reg prometheus.Registerer) {
	stat := m.pool.Stat
	reg.MustRegister(
		gauge("database_connections", "Connections of the pool.", func() float64 { return float64(stat().TotalConns()) }),
		gauge("database_connections_busy", "Connections in use.", func() float64 { return float64(stat().AcquiredConns()) }),
		gauge("database_connections_limit", "Connections the pool may open.", func() float64 { return float64(stat().MaxConns()) }),
		counter("database_waits_total", "Requests that waited for a connection.", func() float64 { return float64(stat().EmptyAcquireCount()) }),
		counter("database_wait_seconds_total", "Time that requests waited for a connection.", func() float64 { return stat().EmptyAcquireWaitTime().Seconds() }),
	)
}

func gauge(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "anet_hub_" + name, Help: help}, value)
}

func counter(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "anet_hub_" + name, Help: help}, value)
}

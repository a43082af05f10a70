package learned

import (
	"context"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// learnAgents vets the entries of a page and decides on them.
func (r *round) learnAgents(ctx context.Context, p Page, to int64) error {
	aids := p.aids()
	known, err := r.Store.Look(ctx, r.job, aids)
	if err != nil {
		return err
	}
	vetted := make([]Vetted, len(p.Entries))
	inParallel(len(vetted), func(i int) {
		vetted[i] = r.vet(ctx, r.from, p.Entries[i], known[p.Entries[i].AID])
	})
	var lesson Lesson
	err = r.Store.Learn(ctx, r.job, aids, r.Now(), func(recs map[string]Record, room Room) Lesson {
		lesson = conclude(vetted, recs, room, r.Now())
		lesson.ReadTo = to
		if p.Asked != "" && !slices.Contains(aids, p.Asked) {
			lesson.Settled = append(lesson.Settled, p.Asked) // it has moved on in its stream
		}
		return lesson
	})
	if err != nil {
		return err
	}
	r.news = r.news || lesson.News()
	r.Metrics.learned(r.peer.Name, r.job.Stream, lesson)
	return nil
}

// learnReviews does the same with reviews.
func (r *round) learnReviews(ctx context.Context, p page, to int64) error {
	list := p.reviews()
	kels, err := r.Store.Histories(ctx, parties(list))
	if err != nil {
		return err
	}
	inParallel(len(list), func(i int) { list[i].err = r.review(list[i], kels) })
	lesson := ReviewLesson{ReadTo: to}
	for _, v := range list {
		if v.err != nil {
			lesson.Refused++
			lesson.Refusal = v.err.Error()
			continue
		}
		lesson.Take = append(lesson.Take, v)
	}
	news, err := r.Store.LearnReviews(ctx, r.job, lesson, r.Now())
	r.news = r.news || news
	r.Metrics.reviewed(r.peer.Name, lesson)
	return err
}

// inParallel leaves a processor to those who ask this hub something.
func inParallel(n int, do func(int)) {
	var g errgroup.Group
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)-1))
	for i := range n {
		g.Go(func() error { do(i); return nil })
	}
	_ = g.Wait()
}

// aids are all whom a page is about, each once.
func (p Page) aids() (aids []string) {
	for _, e := range p.Entries {
		if e.AID != "" {
			aids = append(aids, e.AID)
		}
	}
	return aids
}

// conclude decides on the vetted entries of a page, none of which is about the
// same agent as another.
func conclude(list []Vetted, recs map[string]Record, room Room, now time.Time) (l Lesson) {
	for _, v := range list {
		rec := recs[v.AID]
		verdict := Decide(v, rec, room, now)
		switch verdict.Step {
		case Pass:
			l.Told = append(l.Told, v.AID)
		case Take:
			v.Agent.TaughtAt, v.Agent.Rating = now.Truncate(time.Microsecond), rec.Rating // as it is kept
			if rec.Mine != nil {
				v.Agent.TaughtAt = rec.Mine.TaughtAt
			}
			l.Take = append(l.Take, Taken{v, verdict.Grown})
			room = room.less(v, rec)
		case Drop:
			l.Drop = append(l.Drop, v.AID)
		case Hold:
			l.Hold = append(l.Hold, Held{AID: v.AID, FedSeq: v.FedSeq, Reason: verdict.Reason, Retry: verdict.Retry})
			continue
		case Refuse:
			l.Refused++
			l.Refusal = verdict.Says
		}
		if v.AID != "" {
			l.Settled = append(l.Settled, v.AID)
		}
	}
	return l
}

// less is the room that is left behind an entry.
func (r Room) less(v Vetted, rec Record) Room {
	r.Bytes -= int64(v.Size())
	if rec.Mine != nil {
		r.Bytes += int64(rec.Mine.Size)
	} else {
		r.Agents--
	}
	r.Marks -= v.Marks(rec)
	return r
}

/* Where a sequence is cut: between its repetitions, else where least is handed on; nowhere where a bit could change. */
#include "base/number/hash.h"
#include "graph/transform/segment/segment_parts.h"

#include <stdlib.h>
#include <string.h>

/* Some operations in a row. */
typedef struct window {
    uint64_t hash;
    uint32_t at;
} window;

typedef struct period {
    uint32_t length, votes;
} period;

typedef struct cutter {
    mw__sequence *s;
    uint64_t *hash;  /* by position */
    bool *blocked;   /* by position: no cut before it */
    uint64_t *width; /* by position: bytes that are handed on by a cut before it */
    uint32_t *work;  /* by position: operations before it, those on single numbers not counted */
    window *windows; /* by hash, then position */
    size_t window_count;
    period *periods; /* scratch */
    struct run *runs;
    size_t run_count;
} cutter;

/* Repetitions of `period` operations. */
typedef struct run {
    size_t first, period, times;
    size_t joined; /* of them make one piece */
} run;

/* Below SAVED_LEAST operations that need not be compiled again, repetitions are left alone. */
enum { RUNS_MAX = 32, PIECE_LEAST = 16, SAVED_LEAST = 48, WINDOW = 8, PERIODS_MAX = 256 };

static int by_hash(const void *left, const void *right)
{
    const window *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static int by_length(const void *left, const void *right)
{
    const period *a = left, *b = right;
    return a->length < b->length ? -1 : a->length > b->length;
}

static int by_cover(const void *left, const void *right)
{
    const period *a = left, *b = right;
    const uint64_t x = (uint64_t)a->length * a->votes, y = (uint64_t)b->length * b->votes;
    return x != y ? (x > y ? -1 : 1) : by_length(left, right);
}

/* ---- where no cut may be ---- */

/* Adds 1 to positions (from, to]. */
static void block(int32_t *starts, size_t from, size_t to)
{
    if (to <= from)
        return;
    starts[from + 1]++;
    starts[to + 1]--;
}

static const mw__node *node_at(const mw__sequence *s, size_t at) { return &s->nodes[s->order[at]]; }

/* Values that no port holds stay in their piece; so does a value whose only use has no other computed operand, as a
 * device may join the two and leave out the rounding between them. */
static void block_values(const mw__sequence *s, size_t at, const bool *joined, int32_t *starts)
{
    const mw__op *op = node_at(s, at)->op;
    for (size_t i = 0; i < op->result_count; i++) {
        const mw_tensor *value = op->results[i];
        if (!mw__segment_passes(s, value) || (joined[value->id] && s->uses[value->id] == 1 && !value->is_output))
            block(starts, at, s->last[value->id]);
    }
}

/* By value: used by an operation without another computed operand. */
static mw_status find_joined(const mw__sequence *s, bool **out, mw_error *err)
{
    bool *joined = mw__arena_alloc(s->arena, s->function->graph->value_count, sizeof *joined, err);
    *out = joined;
    if (joined == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < s->node_count; i++) {
        const mw__node *node = &s->nodes[i];
        const mw_tensor *live = NULL;
        size_t count = 0;
        for (size_t k = 0; k < node->operand_count; k++) {
            const uint32_t from = s->producer[node->operands[k]->id];
            if (from != MW__NO_NODE && s->nodes[from].constant)
                continue;
            live = node->operands[k];
            count++;
        }
        if (count == 1 && !node->copied)
            joined[live->id] = true;
    }
    return MW_OK;
}

static bool is_conv(const mw__op *op) { return strncmp(op->kind, "conv", 4) == 0; }

/* A convolution and the gradient of its weight are one computation, which has an order of its own. */
static void block_convolutions(const mw__sequence *s, int32_t *starts)
{
    size_t first = SIZE_MAX, last = 0;
    for (size_t at = 0; at < s->count; at++) {
        const mw__op *op = node_at(s, at)->op;
        if (first == SIZE_MAX && op->stage == MW__STEP_FORWARD && is_conv(op))
            first = at;
        if (op->stage == MW__STEP_BACKWARD)
            last = at;
    }
    if (first != SIZE_MAX)
        block(starts, first, last);
}

/* What reads an input is not behind what writes over it. */
static void block_old(const mw__sequence *s, int32_t *starts)
{
    const mw__block *body = s->function->body;
    for (size_t i = 0; i < body->output_count; i++) {
        const size_t old = s->options->old != NULL ? s->options->old[i] : SIZE_MAX;
        const uint32_t writer = s->producer[body->outputs[i]->id];
        if (old != SIZE_MAX && writer != MW__NO_NODE)
            block(starts, s->nodes[writer].at, s->last[body->inputs[old]->id]);
    }
}

static mw_status find_blocked(cutter *c, mw_error *err)
{
    const mw__sequence *s = c->s;
    bool *joined;
    int32_t *starts = mw__arena_alloc(s->arena, s->count + 2, sizeof *starts, err);
    c->blocked = mw__arena_alloc(s->arena, s->count + 1, sizeof *c->blocked, err);
    if (starts == NULL || c->blocked == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(find_joined(s, &joined, err));
    for (size_t at = 0; at < s->count; at++)
        block_values(s, at, joined, starts);
    block_convolutions(s, starts);
    block_old(s, starts);
    int32_t depth = 0;
    for (size_t at = 0; at <= s->count; at++) {
        depth += starts[at];
        c->blocked[at] = depth > 0;
    }
    return MW_OK;
}

/* ---- how much is handed on ---- */

static mw_status find_widths(cutter *c, mw_error *err)
{
    const mw__sequence *s = c->s;
    c->width = mw__arena_alloc(s->arena, s->count + 2, sizeof *c->width, err);
    if (c->width == NULL)
        return MW_ERROR_MEMORY;
    for (size_t at = 0; at < s->count; at++) {
        const mw__op *op = node_at(s, at)->op;
        for (size_t i = 0; i < op->result_count; i++) {
            size_t bytes;
            const uint32_t last = s->last[op->results[i]->id];
            if (last <= at || !mw__type_bytes(op->results[i]->type, &bytes))
                continue;
            c->width[at + 1] += bytes;
            c->width[last + 1] -= bytes; /* the sum of both never goes below 0 */
        }
    }
    for (size_t at = 1; at <= s->count; at++)
        c->width[at] += c->width[at - 1];
    return MW_OK;
}

static bool is_number(const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (mw_shape_count(mw_tensor_shape(op->results[i])) > 1)
            return false;
    return true;
}

static mw_status find_work(cutter *c, mw_error *err)
{
    const mw__sequence *s = c->s;
    c->work = mw__arena_alloc(s->arena, s->count + 1, sizeof *c->work, err);
    for (size_t at = 0; c->work != NULL && at < s->count; at++)
        c->work[at + 1] = c->work[at] + !is_number(node_at(s, at)->op);
    return c->work != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- which periods there can be ---- */

/* A period is the distance of some stretch of WINDOW operations from its next occurrence: of one that a period has
 * once, if it has any, else of one that a part of the period repeats, which then is a shorter period. */
static void find_windows(cutter *c)
{
    const size_t count = c->s->count;
    c->window_count = 0;
    for (size_t at = 0; at + WINDOW <= count; at++)
        c->windows[c->window_count++] =
            (window){.hash = mw__hash64(&c->hash[at], WINDOW * sizeof *c->hash, 0), .at = (uint32_t)at};
    if (c->window_count > 0)
        qsort(c->windows, c->window_count, sizeof *c->windows, by_hash);
}

/* The likely ones within [begin, end), those that cover most first; returns how many. */
static size_t find_periods(const cutter *c, size_t begin, size_t end)
{
    size_t count = 0, found = 0;
    for (size_t i = 0; i + 1 < c->window_count; i++) {
        const window *w = &c->windows[i];
        if (w[0].hash == w[1].hash && w[0].at >= begin && w[1].at + WINDOW <= end)
            c->periods[count++] = (period){.length = w[1].at - w[0].at, .votes = 1};
    }
    if (count > 0)
        qsort(c->periods, count, sizeof *c->periods, by_length);
    for (size_t i = 0; i < count; i++) {
        if (found > 0 && c->periods[found - 1].length == c->periods[i].length)
            c->periods[found - 1].votes++;
        else
            c->periods[found++] = c->periods[i];
    }
    if (found > 0)
        qsort(c->periods, found, sizeof *c->periods, by_cover);
    return found < PERIODS_MAX ? found : PERIODS_MAX;
}

/* ---- repetitions ---- */

/* The longest repetition of a period within [begin, end), by work; less than two times if there is none. */
static run longest_run(const cutter *c, size_t begin, size_t end, size_t length, size_t *out_slack)
{
    run best = {0};
    uint32_t most = 0;
    for (size_t at = begin, equal = 0; at + length <= end; at++) {
        if (at + length < end && c->hash[at] == c->hash[at + length]) {
            equal++;
            continue;
        }
        const size_t times = equal / length + 1, first = at - equal;
        const uint32_t work = c->work[first + times * length] - c->work[first];
        if (times > 1 && work > most) {
            most = work;
            best = (run){.first = first, .period = length, .times = times, .joined = 1};
            *out_slack = equal + length - times * length;
        }
        equal = 0;
    }
    return best;
}

static uint32_t covered(const cutter *c, const run *r)
{
    return c->work[r->first + r->times * r->period] - c->work[r->first];
}

/* The repetitions that cover most of the work in [begin, end); the shortest period of those. *out_slack is how many
 * operations more are repeated than whole periods. */
static run find_run(const cutter *c, size_t begin, size_t end, size_t *out_slack)
{
    run best = {0};
    const size_t count = find_periods(c, begin, end);
    for (size_t i = 0; i < count; i++) {
        size_t slack = 0;
        const run found = longest_run(c, begin, end, c->periods[i].length, &slack);
        const uint32_t more = covered(c, &found), most = covered(c, &best);
        if (found.times < 2 || more < most || (more == most && found.period > best.period))
            continue;
        best = found;
        *out_slack = slack;
    }
    return best;
}

static bool may_cut(const cutter *c, const run *r, size_t shift, uint64_t *out_width)
{
    *out_width = 0;
    for (size_t k = 0; k <= r->times; k++) {
        const size_t at = r->first + shift + k * r->period;
        if (c->blocked[at])
            return false;
        *out_width += c->width[at];
    }
    return true;
}

/* Moves the repetitions to where they may be cut, and least is handed on; with one or two of them less if need be. */
static bool settle(const cutter *c, run *r, size_t slack)
{
    for (int tries = 0; tries < 3 && r->times > 1; tries++, r->times--, slack += r->period) {
        uint64_t least = UINT64_MAX, width;
        size_t best = 0;
        for (size_t shift = 0; shift <= slack; shift++)
            if (may_cut(c, r, shift, &width) && width < least) {
                least = width;
                best = shift;
            }
        r->first += best;
        if (least != UINT64_MAX)
            return true;
    }
    return false;
}

static size_t work_of(const cutter *c, const run *r) { return c->work[r->first + r->period] - c->work[r->first]; }

static bool is_worth_it(const cutter *c, const run *r) { return (r->times - 1) * work_of(c, r) >= SAVED_LEAST; }

static void find_runs(cutter *c, size_t begin, size_t end)
{
    size_t slack = 0;
    if (end - begin < SAVED_LEAST || c->run_count == RUNS_MAX)
        return;
    run r = find_run(c, begin, end, &slack);
    if (r.times < 2 || !is_worth_it(c, &r) || !settle(c, &r, slack) || !is_worth_it(c, &r))
        return;
    const size_t after = r.first + r.times * r.period;
    find_runs(c, begin, r.first);
    if (c->run_count < RUNS_MAX)
        c->runs[c->run_count++] = r;
    find_runs(c, after, end);
}

/* ---- cuts ---- */

static void put_cut(mw__sequence *s, size_t at)
{
    if (s->cut_count == 0 || s->cuts[s->cut_count - 1] < at)
        s->cuts[s->cut_count++] = (uint32_t)at;
}

/* What is left over of a run goes to the piece behind it. */
static void cut_runs(cutter *c)
{
    mw__sequence *s = c->s;
    s->cut_count = 0;
    put_cut(s, 0);
    for (size_t i = 0; i < c->run_count; i++) {
        const run *r = &c->runs[i];
        for (size_t k = 0; r->times / r->joined > 1 && k <= r->times / r->joined; k++)
            put_cut(s, r->first + k * r->joined * r->period);
    }
    put_cut(s, s->count);
}

/* Larger pieces, the most numerous first; false if there is nothing left to join. */
static bool join_more(cutter *c)
{
    run *most = NULL;
    for (size_t i = 0; i < c->run_count; i++) {
        run *r = &c->runs[i];
        if (r->times / r->joined > 1 && (most == NULL || r->times / r->joined > most->times / most->joined))
            most = r;
    }
    if (most != NULL)
        most->joined++;
    return most != NULL;
}

/* Where the piece [begin, end) is narrowest, not too near its ends if that can be; 0 = nowhere. */
static size_t narrowest(const cutter *c, size_t begin, size_t end)
{
    for (size_t margin = (end - begin) / 4;; margin = 0) {
        size_t best = 0;
        for (size_t at = begin + 1 + margin; at + margin < end; at++)
            if (!c->blocked[at] && (best == 0 || c->width[at] < c->width[best]))
                best = at;
        if (best != 0 || margin == 0)
            return best;
    }
}

static void insert_cut(mw__sequence *s, size_t piece, size_t at)
{
    memmove(s->cuts + piece + 2, s->cuts + piece + 1, (s->cut_count - piece - 1) * sizeof *s->cuts);
    s->cuts[piece + 1] = (uint32_t)at;
    s->cut_count++;
}

/* Cuts the longest piece of more than `most` operations that can be cut; false if there is none. */
static bool cut_longest(const cutter *c, size_t most)
{
    mw__sequence *s = c->s;
    size_t longest = 0, where = 0, piece = 0;
    for (size_t i = 0; i + 1 < s->cut_count; i++) {
        const size_t length = s->cuts[i + 1] - s->cuts[i];
        const size_t at = length > longest && length > most ? narrowest(c, s->cuts[i], s->cuts[i + 1]) : 0;
        if (at == 0)
            continue;
        longest = length;
        where = at;
        piece = i;
    }
    if (longest > 0)
        insert_cut(s, piece, where);
    return longest > 0;
}

static mw_status analyze(cutter *c, mw_error *err)
{
    mw__sequence *s = c->s;
    c->run_count = 0;
    for (size_t at = 0; at < s->count; at++)
        c->hash[at] = node_at(s, at)->hash;
    MW_TRY(find_blocked(c, err));
    MW_TRY(find_widths(c, err));
    MW_TRY(find_work(c, err));
    find_windows(c);
    find_runs(c, 0, s->count);
    return MW_OK;
}

/* ---- what is left behind the last run ---- */

/* Whether anything of the run is needed for it. */
static bool depends(const mw__sequence *s, const mw__node *node, const bool *on_run)
{
    for (size_t i = 0; i < node->operand_count; i++) {
        const uint32_t from = s->producer[node->operands[i]->id];
        if (from != MW__NO_NODE && on_run[from])
            return true;
    }
    return false;
}

/* Updates that stand behind the run of updates, and do not need it, go before it: one piece less. */
static mw_status move_rest(cutter *c, bool *out_moved, mw_error *err)
{
    mw__sequence *s = c->s;
    const run *r = &c->runs[c->run_count - 1];
    const size_t after = r->first + r->times * r->period;
    uint32_t *order = mw__arena_alloc(s->arena, s->count, sizeof *order, err);
    bool *on_run = mw__arena_alloc(s->arena, s->node_count, sizeof *on_run, err);
    if (order == NULL || on_run == NULL)
        return MW_ERROR_MEMORY;
    for (size_t at = r->first; at < after; at++)
        on_run[s->order[at]] = true;
    for (size_t i = 0; i < s->node_count; i++)
        on_run[i] = on_run[i] || depends(s, &s->nodes[i], on_run);
    size_t count = r->first, left = r->first;
    memcpy(order, s->order, count * sizeof *order);
    for (size_t at = after; at < s->count; at++)
        if (!on_run[s->order[at]])
            order[count++] = s->order[at];
    *out_moved = count > left;
    for (; left < s->count; left++)
        if (left < after || on_run[s->order[left]])
            order[count++] = s->order[left];
    memcpy(s->order, order, count * sizeof *order);
    return mw__segment_number(s, err);
}

/* ---- the whole ---- */

static mw_status prepare_cutter(cutter *c, mw_error *err)
{
    mw__sequence *s = c->s;
    c->hash = mw__arena_alloc(s->arena, s->count, sizeof *c->hash, err);
    c->runs = mw__arena_alloc(s->arena, RUNS_MAX, sizeof *c->runs, err);
    c->windows = mw__arena_alloc(s->arena, s->count, sizeof *c->windows, err);
    c->periods = mw__arena_alloc(s->arena, s->count, sizeof *c->periods, err);
    if (c->hash == NULL || c->runs == NULL || c->windows == NULL || c->periods == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(analyze(c, err));
    bool moved = false;
    if (c->run_count > 0 && node_at(s, c->runs[c->run_count - 1].first)->op->stage == MW__STEP_UPDATE)
        MW_TRY(move_rest(c, &moved, err));
    return moved ? analyze(c, err) : MW_OK;
}

static void choose_cuts(cutter *c)
{
    mw__sequence *s = c->s;
    const mw__segment_options *o = s->options;
    const size_t least = o->automatic ? MW__SEGMENT_LEAST : PIECE_LEAST;
    for (size_t i = 0; i < c->run_count; i++)
        c->runs[i].joined = (least + work_of(c, &c->runs[i]) - 1) / work_of(c, &c->runs[i]);
    cut_runs(c);
    while (s->cut_count - 1 > o->calls_max && join_more(c))
        cut_runs(c);
    if (s->cut_count > 2)
        return;
    while (s->cut_count - 1 < o->calls_max && cut_longest(c, o->automatic ? MW__SEGMENT_OPERATIONS : 1)) {
    }
}

mw_status mw__segment_cut(mw__sequence *s, mw_error *err)
{
    cutter c = {.s = s};
    const mw__segment_options *o = s->options;
    s->cuts = mw__arena_alloc(s->arena, s->count + 2, sizeof *s->cuts, err);
    if (s->cuts == NULL)
        return MW_ERROR_MEMORY;
    if (s->count > 0 && o->calls_max > 1 && (!o->automatic || s->count > MW__SEGMENT_OPERATIONS)) {
        MW_TRY(prepare_cutter(&c, err));
        choose_cuts(&c);
        return MW_OK;
    }
    cut_runs(&c);
    return MW_OK;
}

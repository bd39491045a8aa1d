/* mw_plan: what it says of programs whose steps, bytes and lives can be worked out by hand, what it measures, what it
 * writes, and how it fails. */
#include "base/text/json.h"
#include "runtime/files.h"
#include "runtime/program/program_object.h"
#include "runtime/small.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/setting.h"

#include <dlfcn.h>
#include <e5rt/e5rt.h>
#include <millwright/inspect.h>
#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 48, DEPTH = 32, LIMIT = 20000 };

static mw_compile_options on_engine(int threads)
{
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_CPU;
    options.threads = threads;
    return options;
}

/* y = relu(x w) + relu(x w) * 0.5 + x w, of x [ROWS, DEPTH] and w [DEPTH, COLUMNS]: a product and a region. */
static mw_program *compile(const mw_compile_options *options, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, DEPTH));
    mw_tensor *w = mw_input(graph, "w", MW_F32, MW_SHAPE(DEPTH, COLUMNS));
    mw_tensor *xw = mw_matmul(x, w, MW_TRANSPOSE_NONE);
    mw_tensor *positive = mw_relu(xw);
    mw_output(mw_add(mw_add(positive, mw_mul_scalar(positive, 0.5)), xw), "y");
    mw_program *program = mw_program_create(graph, options, err);
    mw_graph_destroy(graph);
    return program;
}

static size_t find_buffer(const mw_plan *plan, const char *name, mw_plan_buffer *out)
{
    const size_t count = mw_plan_get_totals(plan).buffer_count;
    for (size_t i = 0; i < count; i++)
        if (mw_plan_buffer_at(plan, i, out) && strcmp(out->name, name) == 0)
            return i;
    *out = (mw_plan_buffer){0};
    return count;
}

/* Bytes of the only access to the buffer of that name; 0 if there is none, or several. */
static uint64_t bytes_of(const mw_plan *plan, const mw_plan_access *list, size_t count, const char *name)
{
    mw_plan_buffer buffer;
    const size_t index = find_buffer(plan, name, &buffer);
    uint64_t bytes = 0, times = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].buffer == index)
            bytes = list[i].bytes, times++;
    return times == 1 ? bytes : 0;
}

static bool computes(const mw_plan_step *step, const char *kind)
{
    for (size_t i = 0; i < step->operation_count; i++)
        if (strcmp(step->operations[i].kind, kind) == 0)
            return true;
    return false;
}

/* ---- what a plan says ---- */

static void test_plan_of_a_small_program(void)
{
    mw_error err = {0};
    const mw_compile_options options = on_engine(2);
    mw_program *program = compile(&options, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    CHECK_OK(err);
    REQUIRE(plan != NULL);
    const mw_plan_totals t = mw_plan_get_totals(plan);
    const size_t result = ROWS * COLUMNS;
    CHECK_STR(t.where, mw_program_where(program));
    CHECK_INT(t.threads, 2);
    CHECK_INT(t.step_count, 2);
    CHECK_INT(t.phase_count, 1); /* the rows of the region are those of the product */
    CHECK_INT(t.port_bytes, 4 * (ROWS * DEPTH + DEPTH * COLUMNS + result));
    CHECK(t.intermediate_bytes >= 4 * result);
    CHECK_INT(t.time.runs, 0);
    mw_plan_step product, region;
    REQUIRE(mw_plan_step_at(plan, 0, &product) && mw_plan_step_at(plan, 1, &region));
    CHECK_STR(product.kernel, "matmul");
    CHECK_INT(product.operation_count, 1);
    CHECK_INT(product.threads, 2);
    CHECK_INT(product.bytes_read, 4 * (ROWS * DEPTH + DEPTH * COLUMNS));
    CHECK_INT(product.bytes_written, 4 * result);
    CHECK_NEAR(product.flops, 2.0 * ROWS * COLUMNS * DEPTH, 0);
    CHECK_INT(region.operation_count, 4);
    CHECK(computes(&region, "relu") && computes(&region, "mul") && computes(&region, "add"));
    CHECK_INT(region.bytes_read, 4 * result + 4); /* and the constant */
    CHECK_INT(region.bytes_written, 4 * result);
    CHECK_NEAR(region.flops, 4.0 * ROWS * COLUMNS, 0);
    CHECK_NEAR(t.flops, product.flops + region.flops, 0);
    CHECK_INT(t.unknown_flops, 0);
    CHECK_INT(t.bytes_read, product.bytes_read + region.bytes_read);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
}

static void test_buffers_carry_the_names_of_the_user(void)
{
    mw_error err = {0};
    const mw_compile_options options = on_engine(1);
    mw_program *program = compile(&options, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    REQUIRE(plan != NULL);
    mw_program_destroy(program); /* the plan stays */
    mw_plan_buffer x, y, product;
    find_buffer(plan, "x", &x);
    find_buffer(plan, "y", &y);
    CHECK_INT(x.bytes, 4 * ROWS * DEPTH);
    CHECK_INT(x.kind, MW_PLAN_INPUT);
    CHECK(x.used && x.first_step == 0 && x.last_step == 0);
    CHECK_INT(y.kind, MW_PLAN_OUTPUT);
    CHECK(y.used && y.first_step == 1 && y.last_step == 1);
    mw_plan_step step;
    REQUIRE(mw_plan_step_at(plan, 0, &step) && step.write_count == 1);
    REQUIRE(mw_plan_buffer_at(plan, step.writes[0].buffer, &product));
    CHECK_INT(product.kind, MW_PLAN_INTERMEDIATE);
    CHECK(product.first_step == 0 && product.last_step == 1);
    CHECK_STR(product.name, step.operations[0].name);
    mw_plan_destroy(plan);
}

static void test_a_function_has_no_number_of_operations(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_exp(mw_input(graph, "x", MW_F32, MW_SHAPE(100))), "y");
    const mw_compile_options options = on_engine(1);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    REQUIRE(plan != NULL);
    mw_plan_step step = {0};
    CHECK(mw_plan_step_at(plan, 0, &step) && step.flops < 0.0);
    CHECK_INT(mw_plan_get_totals(plan).unknown_flops, 1);
    CHECK_NEAR(mw_plan_get_totals(plan).flops, 0.0, 0);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* 4 channels of 2 x 8 x 8 results, each a sum of 3 x 3 x 3 products; whatever else is planned moves data. */
static void test_a_convolution_counts_its_products(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3, 8, 8));
    mw_output(mw_conv(x, mw_input(graph, "w", MW_F32, MW_SHAPE(4, 3, 3, 3)), NULL, &same), "y");
    const mw_compile_options options = on_engine(2);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    CHECK_OK(err);
    REQUIRE(plan != NULL);
    CHECK_NEAR(mw_plan_get_totals(plan).flops, 2.0 * (2 * 4 * 8 * 8) * (3 * 3 * 3), 0);
    CHECK_INT(mw_plan_get_totals(plan).unknown_flops, 0);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* 30 rows of a table of 5000: what is not taken is not read. */
static void test_a_gather_reads_what_it_takes(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *table = mw_input(graph, "table", MW_F32, MW_SHAPE(5000, 16));
    mw_output(mw_gather(table, mw_input(graph, "rows", MW_I32, MW_SHAPE(30)), 0), "y");
    const mw_compile_options options = on_engine(1);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    CHECK_OK(err);
    REQUIRE(plan != NULL);
    CHECK_INT(mw_plan_get_totals(plan).bytes_read, 4 * 30 * 16 + 4 * 30);
    CHECK_INT(mw_plan_get_totals(plan).bytes_written, 4 * 30 * 16);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* ---- trainers ---- */

static void run_small(mw_trainer *trainer, int steps, mw_error *err)
{
    const small_data data = small_make_data();
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    for (int i = 0; i < steps; i++)
        mw_trainer_step(trainer, &batch.batch, NULL, err);
}

/* 784-256-10 as in the benchmark W1, batch 16. */
static mw_trainer *make_mlp(int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(16, 784)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(16));
    mw_tensor *logits = mw_dense(mw_gelu(mw_dense(x, 256, "fc1"), MW_GELU_TANH), 10, "fc2");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(1e-3f));
    options.compile = on_engine(threads);
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static bool find_writer(const mw_plan *plan, const char *name, mw_plan_step *out)
{
    mw_plan_buffer buffer;
    return find_buffer(plan, name, &buffer) < mw_plan_get_totals(plan).buffer_count &&
           mw_plan_step_at(plan, buffer.first_step, out);
}

/* The update of a weight: weight, gradient and two moments are read once, three of them written once. */
static void test_fused_adam_touches_each_state_once(void)
{
    const uint64_t bytes = 4 * 256 * 784;
    mw_error err = {0};
    mw_trainer *trainer = make_mlp(2, &err);
    mw_plan *plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
    CHECK_OK(err);
    REQUIRE(plan != NULL);
    mw_plan_step step;
    REQUIRE(find_writer(plan, "fc1.weight#next", &step));
    CHECK_STR(step.kernel, "adam");
    CHECK_INT(bytes_of(plan, step.reads, step.read_count, "fc1.weight"), bytes);
    CHECK_INT(bytes_of(plan, step.reads, step.read_count, "fc1.weight#m"), bytes);
    CHECK_INT(bytes_of(plan, step.reads, step.read_count, "fc1.weight#v"), bytes);
    CHECK_INT(bytes_of(plan, step.writes, step.write_count, "fc1.weight#next"), bytes);
    CHECK_INT(bytes_of(plan, step.writes, step.write_count, "fc1.weight#m#next"), bytes);
    CHECK_INT(bytes_of(plan, step.writes, step.write_count, "fc1.weight#v#next"), bytes);
    CHECK_INT(step.bytes_written, 3 * bytes);
    CHECK(step.bytes_read >= 4 * bytes && step.bytes_read < 4 * bytes + 64); /* scalars */
    mw_plan_destroy(plan);
    mw_trainer_destroy(trainer);
}

static void test_aliased_state_shares_its_memory(void)
{
    static const char *const names[] = {"fc1.weight", "fc1.weight#m", "fc1.weight#v", "fc2.bias", "fc2.bias#v"};
    mw_error err = {0};
    mw_trainer *trainer = make_mlp(1, &err);
    mw_plan *plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
    REQUIRE(plan != NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char next[64];
        mw_plan_buffer in, out;
        snprintf(next, sizeof next, "%s#next", names[i]);
        const size_t index = find_buffer(plan, names[i], &in);
        CHECK(find_buffer(plan, next, &out) < mw_plan_get_totals(plan).buffer_count);
        CHECK_INT(in.memory, index);
        CHECK_INT(out.memory, in.memory);
        CHECK_INT(out.bytes, in.bytes);
    }
    const uint64_t parameters = 4 * (256 * 784 + 256 + 10 * 256 + 10);
    const mw_plan_totals t = mw_plan_get_totals(plan);
    CHECK_INT(t.port_bytes, 3 * parameters + 4 * 16 * 784 + 4 * 16 + 4 * 4); /* batch, two scalars, loss, ok */
    mw_plan_destroy(plan);
    mw_trainer_destroy(trainer);
}

static size_t operations_of(const mw_plan *plan)
{
    size_t count = 0;
    mw_plan_step step;
    for (size_t s = 0; mw_plan_step_at(plan, s, &step); s++)
        count += step.operation_count;
    return count;
}

static void test_every_part_of_a_trainer_has_a_plan(void)
{
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 0.0f, &err);
    REQUIRE(trainer != NULL);
    size_t operations[3] = {0};
    for (int part = MW_TRAINER_STEP; part <= MW_TRAINER_PREDICTION; part++) {
        mw_plan *plan = mw_plan_create_trainer(trainer, (mw_trainer_part)part, &err);
        CHECK_OK(err);
        operations[part] = operations_of(plan);
        mw_plan_destroy(plan);
    }
    CHECK(operations[0] > operations[1] && operations[1] > operations[2] && operations[2] > 0);
    CHECK(mw_plan_create_trainer(trainer, (mw_trainer_part)7, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "part 7");
    mw_trainer_destroy(trainer);
    err = (mw_error){0};
    trainer = make_mlp(1, &err);
    CHECK(mw_plan_create_trainer(trainer, MW_TRAINER_PREDICTION, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no prediction");
    err = (mw_error){0};
    CHECK_INT(mw_trainer_profile(trainer, MW_TRAINER_PREDICTION, 3, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK(mw_plan_create_trainer(trainer, MW_TRAINER_ACCUMULATION, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "accumulates no gradients");
    mw_trainer_destroy(trainer);
}

/* Of two batches the first adds gradients, the second updates. */
static void test_accumulation_has_a_plan_of_its_own(void)
{
    mw_error err = {0};
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.01f));
    options.compile = on_engine(1);
    options.accumulate = 2;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(net.graph);
    mw_trainer_profile(trainer, MW_TRAINER_ACCUMULATION, 8, &err);
    mw_trainer_profile(trainer, MW_TRAINER_STEP, 8, &err);
    run_small(trainer, 5, &err);
    mw_plan *accumulation = mw_plan_create_trainer(trainer, MW_TRAINER_ACCUMULATION, &err);
    mw_plan *step = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
    CHECK_OK(err);
    CHECK_INT(mw_plan_get_totals(accumulation).profiled_runs, 3);
    CHECK_INT(mw_plan_get_totals(step).profiled_runs, 2);
    mw_plan_destroy(accumulation);
    mw_plan_destroy(step);
    mw_trainer_destroy(trainer);
}

/* ---- what is measured ---- */

static void test_profile_measures_every_step(void)
{
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 0.0f, &err);
    mw_trainer_profile(trainer, MW_TRAINER_STEP, 6, &err);
    run_small(trainer, 9, &err);
    mw_plan *plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
    CHECK_OK(err);
    REQUIRE(plan != NULL);
    const mw_plan_totals t = mw_plan_get_totals(plan);
    CHECK_INT(t.time.runs, 6);
    CHECK_INT(t.profiled_runs, 9);
    CHECK(t.time.min_ns > 0 && t.time.min_ns <= t.time.median_ns && t.time.total_ns >= 6 * t.time.min_ns);
    double sum = 0;
    for (size_t s = 0; s < t.step_count; s++) {
        mw_plan_step step;
        REQUIRE(mw_plan_step_at(plan, s, &step));
        CHECK_INT(step.time.runs, 6);
        CHECK(step.time.min_ns <= step.time.median_ns && step.time.total_ns >= 6 * step.time.min_ns);
        if (step.time.median_ns > 0)
            CHECK_NEAR(step.gbytes * step.time.median_ns, (double)(step.bytes_read + step.bytes_written), 1e-3);
        sum += step.time.total_ns;
    }
    CHECK(sum > 0 && sum <= t.time.total_ns); /* the steps of one thread do not overlap */
    mw_plan_destroy(plan);
    mw_trainer_profile(trainer, MW_TRAINER_STEP, 0, &err);
    run_small(trainer, 1, &err);
    plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
    CHECK_INT(mw_plan_get_totals(plan).time.runs, 0);
    CHECK_INT(mw_plan_write_trace(plan, scratch("none.json"), &err), MW_ERROR_STATE);
    CHECK_CONTAINS(err.message, "mw_program_profile");
    CHECK(!file_exists(scratch("none.json")));
    mw_plan_destroy(plan);
    mw_trainer_destroy(trainer);
}

static void test_profiled_steps_allocate_nothing(void)
{
    failing_allocator counting = {.fail_at = -1}, engine = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&counting), below = failing_allocator_of(&engine);
    mw_error err = {0};
    e5rt_mw_set_allocator(below.resize, below.user);
    mw_compile_options options = on_engine(2);
    options.allocator = &allocator;
    mw_program *program = compile(&options, &err);
    mw_program_profile(program, 100, &err);
    CHECK_OK(err);
    REQUIRE(program != NULL);
    const long before = counting.requests, before_below = engine.requests;
    CHECK(before > 0 && before_below > 0);
    for (int i = 0; i < 1000; i++)
        mw_program_run(program, &err);
    CHECK_OK(err);
    CHECK_INT(counting.requests, before);
    CHECK_INT(engine.requests, before_below);
    mw_program_destroy(program);
    e5rt_mw_set_allocator(NULL, NULL);
    CHECK_INT(counting.live, 0);
    CHECK_INT(engine.live, 0);
}

/* ---- text ---- */

typedef struct lines {
    char text[16384];
    size_t used;
} lines;

static void keep_line(void *user, const char *line)
{
    lines *all = user;
    CHECK(strchr(line, '\n') == NULL);
    const int length = snprintf(all->text + all->used, sizeof all->text - all->used, "%s\n", line);
    all->used += (size_t)length;
}

static void test_print_and_write_say_the_same(void)
{
    static lines all;
    mw_error err = {0};
    const mw_compile_options options = on_engine(1);
    mw_program *program = compile(&options, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    mw_plan_print(plan, keep_line, &all);
    CHECK_INT(mw_plan_write(plan, scratch("plan.txt"), &err), MW_OK);
    size_t size = 0;
    unsigned char *file = get_file(scratch("plan.txt"), &size);
    REQUIRE(file != NULL);
    CHECK(size == all.used && memcmp(file, all.text, size) == 0);
    CHECK_CONTAINS(all.text, "2 steps in 1 phase on 1 thread;");
    CHECK_CONTAINS(all.text, "matmul");
    CHECK_CONTAINS(all.text, "declined before it");
    CHECK_CONTAINS(all.text, "vector: no vector; "); /* why the product is not by rows of the first kind */
    CHECK_CONTAINS(all.text, "196608");              /* the operations of the product */
    free(file);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
}

/* ---- the trace ---- */

/* One event; times in ns. */
typedef struct event {
    char phase, name[64];
    uint64_t track, begin, length, step;
    bool has_step;
} event;

typedef struct trace {
    event events[4096];
    size_t count, names;
    event now;
    char key[32];
    bool in_events;
} trace;

static void end_event(trace *t)
{
    t->names += t->now.phase == 'M';
    if (t->now.phase == 'X' && t->count < 4096)
        t->events[t->count++] = t->now;
    t->now = (event){0};
}

static mw_status take(void *user, const mw__json_item *item, mw_error *err)
{
    trace *t = user;
    (void)err;
    if (item->event == MW__JSON_KEY) {
        snprintf(t->key, sizeof t->key, "%s", item->text);
        t->in_events = t->in_events || strcmp(t->key, "traceEvents") == 0;
    } else if (item->event == MW__JSON_STRING && item->depth == 3) {
        if (strcmp(t->key, "ph") == 0)
            t->now.phase = item->text[0];
        if (strcmp(t->key, "name") == 0)
            snprintf(t->now.name, sizeof t->now.name, "%s", item->text);
    } else if (item->event == MW__JSON_NUMBER) {
        if (strcmp(t->key, "tid") == 0)
            t->now.track = item->number;
        else if (strcmp(t->key, "ts") == 0)
            t->now.begin = item->number;
        else if (strcmp(t->key, "dur") == 0)
            t->now.length = item->number;
        else if (strcmp(t->key, "step") == 0)
            t->now.step = item->number, t->now.has_step = true;
    } else if (item->event == MW__JSON_END_OBJECT && item->depth == 2) {
        end_event(t);
    }
    return MW_OK;
}

/* Our reader knows no fractions. Those of a trace have three digits: without the point, us become ns. */
static size_t drop_points(char *text, size_t size)
{
    size_t kept = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        quoted = quoted != (text[i] == '"' && (i == 0 || text[i - 1] != '\\'));
        if (quoted || text[i] != '.') {
            text[kept++] = text[i];
            continue;
        }
        CHECK(i + 4 < size && strspn(text + i + 1, "0123456789") == 3);
        while (kept > 1 && text[kept - 1] == '0' && (text[kept - 2] == ':' || text[kept - 2] == ','))
            kept--; /* "0.123" would be a number with a zero in front */
        while (kept > 0 && text[kept - 1] == ':' && text[i + 1] == '0' && text[i + 2] >= '0' && text[i + 2] <= '9')
            i++; /* so would "0.012" */
    }
    return kept;
}

static mw_status read_trace(const char *path, trace *t)
{
    mw_error err = {0};
    size_t size = 0;
    char *text = (char *)get_file(path, &size);
    if (!CHECK(text != NULL))
        return MW_ERROR_FILE;
    size = drop_points(text, size);
    const mw_status status = mw__json_read(NULL, text, size, take, t, &err);
    CHECK_OK(err);
    free(text);
    return status;
}

static void check_slices(const trace *t, size_t threads)
{
    uint64_t run_begin = 0, run_end = 0, thread_end[8] = {0};
    for (size_t i = 0; i < t->count; i++) {
        const event *e = &t->events[i];
        if (e->track == 0) {
            CHECK(e->begin >= run_end && strncmp(e->name, "run ", 4) == 0);
            run_begin = e->begin, run_end = e->begin + e->length;
            continue;
        }
        REQUIRE(e->track <= threads && e->has_step);
        CHECK(e->begin >= run_begin && e->begin + e->length <= run_end);
        CHECK(e->begin >= thread_end[e->track]); /* a thread does one thing at a time */
        thread_end[e->track] = e->begin + e->length;
    }
}

static void check_trace(int threads)
{
    static trace t;
    t = (trace){0};
    mw_error err = {0};
    const mw_compile_options options = on_engine(threads);
    mw_program *program = compile(&options, &err);
    mw_program_profile(program, 7, &err);
    for (int i = 0; i < 9; i++)
        mw_program_run(program, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    mw_plan_write_trace(plan, scratch("trace.json"), &err);
    CHECK_OK(err);
    REQUIRE(plan != NULL && read_trace(scratch("trace.json"), &t) == MW_OK);
    const size_t partitions = mw_plan_get_totals(plan).threads;
    CHECK(t.in_events);
    CHECK_INT(t.names, 2 + partitions);
    CHECK_INT(t.count, 7 * (1 + 2 * partitions)); /* two steps, each on every thread */
    CHECK_STR(t.events[0].name, "run 2");
    CHECK_STR(t.events[1].name, "matmul");
    check_slices(&t, partitions);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
}

static void test_trace_is_valid_and_ordered(void)
{
    setting_begin("MW_ENGINE_WAKE", "0"); /* the team, however small the work is */
    for (int threads = 1; threads <= 4; threads++)
        check_trace(threads);
    setting_begin("MW_ENGINE_WAKE", "1000000000"); /* one thread for all threads */
    check_trace(3);
    setting_end("MW_ENGINE_WAKE");
}

/* ---- refusals ---- */

static void test_null_is_refused_or_does_nothing(void)
{
    mw_error err = {0};
    mw_plan_step step;
    mw_plan_buffer buffer;
    CHECK(mw_plan_create(NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the program is NULL");
    CHECK(mw_plan_create(NULL, &err) == NULL); /* an error that is set stays */
    err = (mw_error){0};
    CHECK(mw_plan_create_trainer(NULL, MW_TRAINER_STEP, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the trainer is NULL");
    CHECK_INT(mw_program_profile(NULL, 3, NULL), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_trainer_profile(NULL, MW_TRAINER_STEP, 3, NULL), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_plan_write(NULL, "x", NULL), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_plan_write_trace(NULL, "x", NULL), MW_ERROR_ARGUMENT);
    CHECK(!mw_plan_step_at(NULL, 0, &step) && !mw_plan_buffer_at(NULL, 0, &buffer));
    CHECK_INT(mw_plan_get_totals(NULL).step_count, 0);
    mw_plan_print(NULL, keep_line, NULL);
    mw_plan_destroy(NULL);
    err = (mw_error){0};
    const mw_compile_options options = on_engine(1);
    mw_program *program = compile(&options, &err);
    CHECK_INT(mw_program_profile(program, SIZE_MAX, NULL), MW_ERROR_ARGUMENT);
    mw_plan *plan = mw_plan_create(program, &err);
    CHECK(!mw_plan_step_at(plan, 2, &step) && !mw_plan_step_at(plan, 0, NULL));
    CHECK(!mw_plan_buffer_at(plan, SIZE_MAX, &buffer) && !mw_plan_buffer_at(plan, 0, NULL));
    mw_plan_print(plan, NULL, NULL);
    CHECK_INT(mw_plan_write(plan, NULL, NULL), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_plan_write(plan, scratch("no/such/folder/plan.txt"), NULL), MW_ERROR_FILE);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
}

static void test_a_plan_freezes_the_bindings(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_add_scalar(mw_input(graph, "x", MW_F32, MW_SHAPE(4)), 1.0), "y");
    const mw_compile_options options = on_engine(1);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_plan_destroy(mw_plan_create(program, &err));
    CHECK_OK(err);
    CHECK_INT(mw_program_alias(program, "y", "x", &err), MW_ERROR_STATE);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* A library like Espresso: everything but the rows of our engine. */
static void test_a_library_without_plans_is_named(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_add_scalar(mw_input(graph, "x", MW_F32, MW_SHAPE(4)), 1.0), "y");
    const mw_compile_options options = on_engine(1);
    mw__target target;
    REQUIRE(mw__target_resolve(&options, &target, &err) == MW_OK);
    target.symbols.mw_plan_create = NULL;
    target.symbols.mw_plan_release = NULL;
    target.symbols.mw_plan_get_data = NULL;
    target.symbols.mw_execution_stream_operation_set_profiling = NULL;
    target.symbols.mw_program_function_get_summary = NULL;
    target.symbols.provider = MW_PROVIDER_ESPRESSO;
    mw_program *program =
        mw__program_create(&(mw__program_request){.graph = graph, .options = &options, .target = &target}, &err);
    REQUIRE(program != NULL);
    CHECK(mw_plan_create(program, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "espresso");
    CHECK_CONTAINS(err.message, "MW_PROVIDER_ENGINE");
    err = (mw_error){0};
    CHECK_INT(mw_program_profile(program, 2, &err), MW_ERROR_UNSUPPORTED);
    err = (mw_error){0};
    CHECK_INT(mw_program_run(program, &err), MW_OK); /* and it still runs */
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* The engine as a library of its own has the rows too. */
static void test_the_engine_library_shows_plans(void)
{
#if defined(MW_E5RT_LIBRARY) && !defined(__SANITIZE_ADDRESS__)
    mw_error err = {0};
    setenv("MW_E5RT_LIBRARY", MW_E5RT_LIBRARY, 1);
    mw_compile_options options = mw_compile_defaults();
    options.threads = 1;
    mw_program *program = compile(&options, &err);
    mw_program_profile(program, 2, &err);
    mw_program_run(program, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    CHECK_OK(err);
    REQUIRE(plan != NULL);
    CHECK_INT(mw_plan_get_totals(plan).step_count, 2);
    CHECK_INT(mw_plan_get_totals(plan).time.runs, 1);
    CHECK_CONTAINS(mw_plan_get_totals(plan).where, "library of MW_E5RT_LIBRARY");
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    unsetenv("MW_E5RT_LIBRARY");
#else
    SKIP("no engine library in this build");
#endif
}

/* Profiles, plans, text and trace while request n fails, on the host's side or the engine's. */
static bool do_everything(mw_program *program, mw_error *err)
{
    mw_program_profile(program, 3, err);
    mw_program_run(program, err);
    mw_plan *plan = mw_plan_create(program, err);
    if (plan != NULL) {
        mw_plan_write(plan, scratch("fault.txt"), err);
        mw_plan_write_trace(plan, scratch("fault.json"), err);
    }
    mw_plan_destroy(plan);
    return err->status == MW_OK;
}

static void check_faults(bool below)
{
    long n = 0;
    for (bool done = false; !done && n < LIMIT; n++) {
        failing_allocator failing = {.fail_at = -1}, other = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(below ? &other : &failing);
        const mw_allocator engine = failing_allocator_of(below ? &failing : &other);
        mw_error err = {0};
        e5rt_mw_set_allocator(engine.resize, engine.user);
        mw_compile_options options = on_engine(2);
        options.allocator = &allocator;
        mw_program *program = compile(&options, &err);
        REQUIRE(program != NULL);
        failing.fail_at = failing.requests + n;
        const bool good = do_everything(program, &err);
        done = !failing.failed;
        check_note(good == done && (good || err.status == MW_ERROR_MEMORY), __FILE__, __LINE__,
                   "request %ld: status %d \"%s\"", n, (int)err.status, err.message);
        mw_program_destroy(program);
        e5rt_mw_set_allocator(NULL, NULL);
        CHECK_INT(failing.live + other.live, 0);
    }
    CHECK(n > 5 && n < LIMIT);
}

static void test_plans_survive_every_host_failure(void) { check_faults(false); }
static void test_plans_survive_every_engine_failure(void) { check_faults(true); }

int main(void)
{
    RUN(test_plan_of_a_small_program);
    RUN(test_buffers_carry_the_names_of_the_user);
    RUN(test_a_function_has_no_number_of_operations);
    RUN(test_a_convolution_counts_its_products);
    RUN(test_a_gather_reads_what_it_takes);
    RUN(test_fused_adam_touches_each_state_once);
    RUN(test_aliased_state_shares_its_memory);
    RUN(test_every_part_of_a_trainer_has_a_plan);
    RUN(test_accumulation_has_a_plan_of_its_own);
    RUN(test_profile_measures_every_step);
    RUN(test_profiled_steps_allocate_nothing);
    RUN(test_print_and_write_say_the_same);
    RUN(test_trace_is_valid_and_ordered);
    RUN(test_null_is_refused_or_does_nothing);
    RUN(test_a_plan_freezes_the_bindings);
    RUN(test_a_library_without_plans_is_named);
    RUN(test_the_engine_library_shows_plans);
    RUN(test_plans_survive_every_host_failure);
    RUN(test_plans_survive_every_engine_failure);
    return check_finish();
}

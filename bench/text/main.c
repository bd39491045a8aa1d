/* Language models as <millwright/text.h> has them: writing token by token, reading a prompt, a training step, and what
 * they take of memory. Folders are made by make_folder.py; torch_text.py does the same in PyTorch. */
#include "workloads.h"

#include <millwright/inspect.h>
#include <millwright/text.h>
#include <pthread.h>
#include <sys/mman.h>

enum {
    PROMPT = 8,
    PREFILL = 256,
    TOKENS_MOST = 512,
    READ_BYTES = 1 << 28,
    READ_ROUNDS = 21,
    THREADS_MOST = 64,
    ROUNDS_MOST = 64
};

typedef struct text_options {
    bench_options bench; /* workload: what to do */
    const char *folder;
    mw_dtype weights;
} text_options;

/* ---- the roof: bytes a second that are read and added up ---- */

typedef struct read_part {
    const uint64_t *from;
    size_t count;
    uint64_t sum;
} read_part;

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

/* Eight streams, each of whole lines, as products of a row read a matrix. */
WIDE static uint64_t read_streams(const uint64_t *from, size_t count)
{
    enum { STREAMS = 8, LINE = 8 };
    uint64_t sum[LINE] = {0}, all = 0;
    const size_t each = count / STREAMS / LINE * LINE;
    for (size_t i = 0; i < each; i += LINE)
        for (size_t s = 0; s < STREAMS; s++)
            for (size_t k = 0; k < LINE; k++)
                sum[k] += from[s * each + i + k];
    for (size_t k = 0; k < LINE; k++)
        all += sum[k];
    return all;
}

static void *read_words(void *user)
{
    read_part *part = user;
    part->sum = read_streams(part->from, part->count);
    return NULL;
}

static double read_seconds(const uint64_t *data, size_t count, int threads)
{
    pthread_t started[THREADS_MOST];
    read_part parts[THREADS_MOST];
    const double start = bench_now();
    for (int i = 0; i < threads; i++) {
        const size_t share = count / (size_t)threads;
        parts[i] = (read_part){data + share * (size_t)i, share, 0};
        if (i > 0 && pthread_create(&started[i], NULL, read_words, &parts[i]) != 0)
            exit(1);
    }
    read_words(&parts[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(started[i], NULL);
    return bench_now() - start;
}

/* Memory as the library's: in large pages where there are some. */
static uint64_t *read_memory(size_t size)
{
    enum { LARGE = 1 << 21 };
    uint64_t *data = aligned_alloc(LARGE, (size + LARGE - 1) / LARGE * LARGE);
    if (data == NULL)
        exit(1);
#if defined(MADV_HUGEPAGE)
    (void)madvise(data, size, MADV_HUGEPAGE);
#endif
    return memset(data, 1, size);
}

/* As large as the weights are, or beyond the caches. The median, as the rate of a machine that others use moves. */
static double read_rate(const text_options *o, size_t bytes)
{
    const int threads = o->bench.threads < THREADS_MOST ? o->bench.threads : THREADS_MOST;
    const size_t size = bytes < READ_BYTES ? bytes : READ_BYTES;
    uint64_t *data = read_memory(size);
    double seconds[READ_ROUNDS];
    const int rounds = o->bench.steps == 1 ? 1 : READ_ROUNDS;
    for (int i = 0; i < rounds; i++)
        seconds[i] = read_seconds(data, size / 8, threads);
    free(data);
    return (double)size / bench_warm_median(seconds, rounds);
}

/* ---- a model ---- */

static double parameters_of(const mw_text_config *c)
{
    const double width = (double)c->width, kv = (double)(c->kv_heads * c->head_width);
    const double layer = 2.0 * width * (width + kv) + 3.0 * width * (double)c->hidden + 2.0 * width;
    return width * (double)c->words * (c->tied ? 1.0 : 2.0) + (double)c->layers * layer + width;
}

static mw_text_model *open_model(const text_options *o, mw_error *err)
{
    static mw_compile_options compile; /* of programs that are made later, too */
    compile = bench_compiling(&o->bench);
    mw_text_model_options options = mw_text_model_defaults();
    options.compile = &compile;
    options.weights = o->weights;
    return mw_text_model_open(o->folder, &options, err);
}

typedef struct clock_marks {
    double seconds[TOKENS_MOST];
    int count;
} clock_marks;

static bool mark_token(void *user, const char *text)
{
    clock_marks *marks = user;
    (void)text;
    if (marks->count < TOKENS_MOST)
        marks->seconds[marks->count++] = bench_now();
    return true;
}

static char *prompt_of(int tokens)
{
    char *text = bench_alloc((size_t)tokens + 1, 1);
    memset(text, 'a', (size_t)tokens);
    return text;
}

/* Every token is the likeliest; the text that each adds comes at once, as all are letters. */
static void bench_writing(const text_options *o, mw_text_model *model, mw_error *err)
{
    static clock_marks marks;
    const mw_text_config *c = mw_text_model_get_config(model);
    const double bytes = parameters_of(c) * (o->weights == MW_F16 ? 2.0 : 4.0);
    const double before = read_rate(o, (size_t)bytes);
    mw_generate_options options = mw_generate_defaults();
    options.tokens = bench_steps(&o->bench, 128) + 1;
    options.temperature = o->bench.fp16 ? 0.8F : 0.0F;
    options.token = mark_token;
    options.user = &marks;
    char *prompt = prompt_of(PROMPT);
    mw_string_free(mw_text_model_generate(model, prompt, &options, err));
    free(prompt);
    const int count = marks.count - 1;
    for (int i = 0; i < count; i++)
        marks.seconds[i] = marks.seconds[i + 1] - marks.seconds[i];
    if (count < 1)
        return;
    const double token = bench_warm_median(marks.seconds, count);
    const double roof = (before + read_rate(o, (size_t)bytes)) / 2.0;
    bench_emit("decode", "token_ms", 1e3 * token);
    bench_emit("decode", "tokens_per_s", 1.0 / token);
    bench_emit("decode", "weights_mb", 1e-6 * bytes);
    bench_emit("decode", "read_gb_s", 1e-9 * roof);
    bench_emit("decode", "of_read", bytes / token / roof);
}

/* ---- a prompt ---- */

static void bench_reading(const text_options *o, mw_text_model *model, mw_error *err)
{
    const mw_text_config *c = mw_text_model_get_config(model);
    const double head = (double)c->width * (double)c->words; /* of the last token alone */
    const double products = 2.0 * PREFILL * (parameters_of(c) - head) + 2.0 * head +
                            2.0 * PREFILL * PREFILL * (double)(c->layers * c->heads * c->head_width);
    mw_generate_options options = mw_generate_defaults();
    options.tokens = 1;
    char *prompt = prompt_of(PREFILL);
    double seconds[ROUNDS_MOST], rates[ROUNDS_MOST], parts[ROUNDS_MOST];
    const int wanted = bench_steps(&o->bench, 5), rounds = wanted < ROUNDS_MOST ? wanted : ROUNDS_MOST;
    for (int i = 0; i < rounds && err->status == MW_OK; i++) {
        rates[i] = bench_product_rate(&o->bench, err); /* in turns, as the processor's clock moves */
        const double start = bench_now();
        mw_string_free(mw_text_model_generate(model, prompt, &options, err));
        seconds[i] = bench_now() - start;
        parts[i] = products / seconds[i] / rates[i];
    }
    free(prompt);
    if (err->status != MW_OK)
        return;
    bench_emit("prefill", "of_product", bench_warm_median(parts, rounds));
    bench_emit("prefill", "product_gflops", 1e-9 * bench_warm_median(rates, rounds));
    const double median = bench_warm_median(seconds, rounds);
    bench_emit("prefill", "ms", 1e3 * median);
    bench_emit("prefill", "gflops", 1e-9 * products / median);
}

/* ---- a training step ---- */

static void feed_tokens(int32_t *tokens, int32_t *labels, int64_t words)
{
    for (int i = 0; i < PREFILL; i++)
        tokens[i] = (int32_t)(i * 7 % words);
    for (int i = 0; i < PREFILL; i++)
        labels[i] = tokens[(i + 1) % PREFILL];
}

static mw_trainer *make_trainer(const text_options *o, const mw_text_config *c, mw_error *err)
{
    mw_text_graph_options form = mw_text_graph_defaults();
    form.tokens = PREFILL;
    form.loss = true;
    mw_graph *graph = mw_text_graph(c, &form, err);
    mw_trainer *trainer = bench_train(&o->bench, mw_graph_find(graph, "loss"), mw_adamw(1e-4F, 0.1F), err);
    mw_graph_destroy(graph);
    mw_trainer_load_weights(trainer, o->folder, NULL, err);
    return trainer;
}

static void bench_training(const text_options *o, mw_error *err)
{
    static int32_t tokens[PREFILL], labels[PREFILL];
    mw_text_config c;
    if (mw_text_config_read(o->folder, &c, err) != MW_OK)
        return;
    feed_tokens(tokens, labels, c.words);
    mw_trainer *trainer = make_trainer(o, &c, err);
    mw_feed feeds[] = {bench_feed("tokens", MW_I32, tokens, PREFILL), bench_feed("labels", MW_I32, labels, PREFILL)};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2};
    float loss = 0.0F;
    double best = 1e9;
    for (int i = 0; i < bench_steps(&o->bench, 4) && err->status == MW_OK; i++) {
        const double start = bench_now();
        mw_trainer_step(trainer, &batch, &loss, err);
        const double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
    }
    bench_emit("train", "step_ms", 1e3 * best);
    bench_emit("train", "loss", (double)loss);
    bench_emit("train", "peak_mb", bench_peak_mb());
    mw_trainer_destroy(trainer);
}

/* ---- the command line ---- */

static text_options parse_text(int argc, char **argv)
{
    text_options o = {.weights = MW_F32};
    char *rest[32] = {argv[0]};
    int count = 1;
    for (int i = 1; i < argc && count < 31; i++) {
        const bool weights = strcmp(argv[i], "--fp16") == 0;
        if (weights)
            o.weights = MW_F16;
        else if (argv[i][0] != '-' && o.folder == NULL && count == 2)
            o.folder = argv[i];
        else
            rest[count++] = argv[i];
    }
    o.bench = bench_parse(count, rest);
    if (o.folder == NULL) {
        fprintf(stderr, "usage: %s decode|prefill|train FOLDER [--fp16] [--threads N] [--steps N]\n", argv[0]);
        exit(2);
    }
    return o;
}

int main(int argc, char **argv)
{
    const text_options o = parse_text(argc, argv);
    mw_error err = {0};
    if (strcmp(o.bench.workload, "train") == 0) {
        bench_training(&o, &err);
    } else {
        mw_text_model *model = open_model(&o, &err);
        if (model != NULL && strcmp(o.bench.workload, "prefill") == 0)
            bench_reading(&o, model, &err);
        else if (model != NULL)
            bench_writing(&o, model, &err);
        mw_text_model_destroy(model);
    }
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    return err.status != MW_OK;
}

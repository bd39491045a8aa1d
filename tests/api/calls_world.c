/* The objects that the generated calls take, and the same ones destroyed. */
#include "calls.h"
#include "support/check.h"

#include <millwright/chip_all.h>
#include <millwright/inspect.h>
#include <millwright/view.h>

#include <string.h>

calls_world now, gone;
mw_error failure;

enum { MEMORY_BYTES = 1 << 16 };

void *memory(int unused)
{
    static _Alignas(64) char bytes[MEMORY_BYTES];
    (void)unused;
    memset(bytes, 0, sizeof bytes);
    return bytes;
}

/* ---- graphs ---- */

static void make_graph(calls_world *w)
{
    w->mw_graph = mw_graph_create(NULL, NULL);
    w->x = mw_input(w->mw_graph, "x", MW_F32, MW_SHAPE(4, 3));
    w->labels = mw_input(w->mw_graph, "labels", MW_I32, MW_SHAPE(4));
    w->image = mw_input(w->mw_graph, "image", MW_F32, MW_SHAPE(1, 2, 5, 5));
    w->w = mw_parameter(w->mw_graph, "w", MW_F32, MW_SHAPE(3, 2), mw_init_constant(1));
    w->mw_layer = mw_layer_dense(w->mw_graph, 2, "layer");
}

/* y = relu(x), which every chip and every writer takes. */
static mw_graph *make_small_graph(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F16, MW_SHAPE(1, 2, 4, 4))), "y");
    return graph;
}

/* ---- a communicator of one rank, to which nothing is sent ---- */

static mw_status refuse_message(mw_error *error)
{
    *error = (mw_error){.status = MW_ERROR_STATE, .message = "there is nobody to talk to"};
    return MW_ERROR_STATE;
}

static mw_status send_nothing(void *user, int to, int tag, const void *data, size_t size, void **request, mw_error *e)
{
    (void)user, (void)to, (void)tag, (void)data, (void)size, (void)request;
    return refuse_message(e);
}

static mw_status receive_nothing(void *user, int from, int tag, void *data, size_t size, void **request, mw_error *e)
{
    (void)user, (void)from, (void)tag, (void)data, (void)size, (void)request;
    return refuse_message(e);
}

static mw_status test_nothing(void *user, void *request, bool *done, size_t *size, mw_error *e)
{
    (void)user, (void)request, (void)done, (void)size;
    return refuse_message(e);
}

static void cancel_nothing(void *user, void *request) { (void)user, (void)request; }

static mw_communicator *make_communicator(mw_error *e)
{
    mw_transport transport = mw_transport_defaults("none", 0, 1);
    transport.send = send_nothing;
    transport.receive = receive_nothing;
    transport.test = test_nothing;
    transport.cancel = cancel_nothing;
    return mw_communicator_create(&transport, NULL, e);
}

/* ---- everything else ---- */

static void make_data(calls_world *w, mw_error *e)
{
    static mw_column columns[64]; /* as many as a call may say */
    tiny_fill(&w->tiny);
    w->tiny.batch.feeds = w->tiny.feeds;
    columns[0] = (mw_column){.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(TINY_D), .data = now.tiny.x};
    columns[1] = (mw_column){.name = "y", .dtype = MW_I32, .data = now.tiny.y};
    w->mw_column = columns;
    w->mw_batch = &w->tiny.batch;
    w->mw_dataset = mw_dataset_create(columns, 2, TINY_N, true, e);
    const mw_loader_options loader = mw_loader_defaults(w->mw_dataset, 2);
    w->mw_loader = mw_loader_create(&loader, e);
}

static void make_running(calls_world *w, mw_graph *small, mw_error *e)
{
    mw_compile_options compile = mw_compile_defaults();
    mw_model_options model = mw_model_defaults();
    compile.provider = MW_PROVIDER_ENGINE;
    model.compile = &compile;
    w->mw_trainer = tiny_trainer(e);
    w->mw_program = mw_program_create(small, &compile, e);
    w->mw_plan = mw_plan_create(w->mw_program, e);
    w->mw_model = mw_model_create(small, &model, e);
    w->mw_predictor = mw_predictor_create(w->mw_model, e);
    w->mw_comparison = mw_comparison_create(small, NULL, e);
    w->mw_ranges = mw_ranges_create(small, NULL, e);
}

/* A library without protobuf-c reads and writes no packages: NULL is one of the values that calls are given. */
static void make_package(calls_world *w, mw_graph *small, mw_error *e)
{
    mw_error own = {0};
    mw_graph_write(small, "world.mlpackage", NULL, &own);
    w->mw_coreml = mw_coreml_open("world.mlpackage", NULL, &own);
    if (own.status != MW_OK && strstr(own.message, "without protobuf-c") == NULL && e->status == MW_OK)
        *e = own;
}

static void make_files(calls_world *w, mw_graph *small, mw_error *e)
{
    mw_hwx_emission emission = {0};
    mw_trainer_save(w->mw_trainer, "world.safetensors", NULL, e);
    w->mw_tensors = mw_tensors_open("world.safetensors", e);
    make_package(w, small, e);
    w->mw_metrics = mw_metrics_create(w == &now ? "now.jsonl" : "gone.jsonl", NULL, e);
    mw_hwx_emit(small, NULL, &emission, e);
    w->mw_hwx = mw_hwx_parse(emission.data, emission.size, NULL, e);
    mw_string_free(emission.data);
    w->mw_e5 = mw_e5_create(small, NULL, e);
}

/* A library without utf8proc reads few tokenizers; this one is of ASCII. */
static void make_texts(calls_world *w, mw_error *e)
{
    w->mw_tokenizer = mw_tokenizer_open(MW_TESTS_DIR "/text/models/llama/tokenizer.json", e);
    w->mw_token_stream = mw_token_stream_create(w->mw_tokenizer, e);
    w->mw_scores = mw_scores_create(MW_SCORE_CLASSES, 4, NULL, e);
    w->mw_table_encoder = mw_table_encoder_read(
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, "
        "\"fields\": [{\"name\": \"x\", \"kind\": \"category\", \"words\": [\"a\", \"b\", \"c\"]}]}",
        e);
    w->mw_text_model = mw_text_model_open(MW_TESTS_DIR "/text/models/llama", NULL, e);
    mw_text_data_options options = mw_text_data_defaults();
    options.tokens = 2;
    options.words = 65536;
    w->mw_text_data = mw_text_data_open(MW_TESTS_DIR "/text/models/tokens.bin", NULL, &options, e);
}

static void make_looks(calls_world *w, mw_graph *small, mw_error *e)
{
    w->mw_summary = mw_summary_create(small, e);
    w->mw_chip_report = mw_chip_report_create(small, MW_CHIP_H13, NULL, e);
    w->mw_chip_plan = mw_chip_plan_create(small, MW_CHIP_H13, NULL, e);
    w->mw_chip_placement = mw_chip_placement_create(small, MW_CHIP_H13, NULL, e);
    w->mw_communicator = make_communicator(e);
}

static bool make_world(calls_world *w)
{
    mw_error e = {0};
    mw_graph *small = make_small_graph();
    make_graph(w);
    make_data(w, &e);
    make_running(w, small, &e);
    make_files(w, small, &e);
    make_looks(w, small, &e);
    make_texts(w, &e);
    mw_graph_destroy(small);
    return CHECK_OK(e);
}

/* Those that were destroyed by a call are not looked at: the library says so in its log. */
static void destroy_world(calls_world *w)
{
    mw_text_data_destroy(w->mw_text_data);
    mw_text_model_destroy(w->mw_text_model);
    mw_token_stream_destroy(w->mw_token_stream);
    mw_tokenizer_destroy(w->mw_tokenizer);
    mw_scores_destroy(w->mw_scores);
    mw_table_encoder_destroy(w->mw_table_encoder);
    mw_communicator_destroy(w->mw_communicator);
    mw_chip_placement_destroy(w->mw_chip_placement);
    mw_chip_plan_destroy(w->mw_chip_plan);
    mw_chip_report_destroy(w->mw_chip_report);
    mw_summary_destroy(w->mw_summary);
    mw_e5_destroy(w->mw_e5);
    mw_hwx_destroy(w->mw_hwx);
    mw_metrics_destroy(w->mw_metrics);
    mw_coreml_destroy(w->mw_coreml);
    mw_tensors_destroy(w->mw_tensors);
    mw_ranges_destroy(w->mw_ranges);
    mw_comparison_destroy(w->mw_comparison);
    mw_predictor_destroy(w->mw_predictor);
    mw_model_destroy(w->mw_model);
    mw_plan_destroy(w->mw_plan);
    mw_program_destroy(w->mw_program);
    mw_trainer_destroy(w->mw_trainer);
    mw_loader_destroy(w->mw_loader);
    mw_dataset_destroy(w->mw_dataset);
    mw_graph_destroy(w->mw_graph);
}

/* What is gone is made last, so that nothing usable has its address, for which it would pass. */
bool calls_make(void)
{
    const bool made = make_world(&now) && make_world(&gone);
    destroy_world(&gone);
    return made;
}

/* Tensors of a destroyed graph are known only while the remains of the last graphs are kept. */
void calls_mend_graphs(void)
{
    if (mw_graph_check(now.mw_graph, NULL) != MW_OK) {
        mw_graph_destroy(now.mw_graph);
        make_graph(&now);
    }
    make_graph(&gone);
    mw_graph_destroy(gone.mw_graph);
}

bool calls_make_again(void)
{
    destroy_world(&now);
    return calls_make();
}

void calls_destroy(void) { destroy_world(&now); }

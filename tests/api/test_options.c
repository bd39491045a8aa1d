/* Options from every struct that has a size, one field wrong at a time: each is refused before anything is done with
 * it. The last test holds the table to the headers. */
#include "option_world.h"
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"
#include "support/ranks.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <millwright/chip_all.h>
#include <millwright/data.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <millwright/text.h>
#include <millwright/view.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 4, D = 3, C = 2 };

static float example_x[8 * D];
static int32_t example_y[8];

static mw_dataset *make_data(mw_error *err)
{
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(D), .data = example_x},
                                 {.name = "y", .dtype = MW_I32, .data = example_y}};
    return mw_dataset_create(columns, 2, 8, true, err);
}

static void world_init(world *w)
{
    *w = (world){.graph = mw_graph_create(NULL, NULL)};
    w->x = mw_input(w->graph, "x", MW_F32, MW_SHAPE(N, D));
    w->labels = mw_input(w->graph, "y", MW_I32, MW_SHAPE(N));
    w->image = mw_input(w->graph, "image", MW_F32, MW_SHAPE(1, 2, 6, 6));
    w->kernel = mw_parameter(w->graph, "kernel", MW_F32, MW_SHAPE(2, 2, 3, 3), mw_init_zeros());
    w->logits = mw_dense(w->x, C, "fc");
    w->loss = mw_cross_entropy(w->logits, w->labels);
    w->y = mw_output(mw_relu(w->logits), "out");
    w->data = make_data(&w->err);
    mw_trainer_options options = mw_trainer_defaults(w->loss, mw_sgd(0.1f));
    w->trainer = mw_trainer_create(&options, &w->err);
    CHECK_OK(w->err);
}

static void world_deinit(world *w)
{
    mw_trainer_destroy(w->trainer);
    mw_dataset_destroy(w->data);
    mw_graph_destroy(w->graph);
}

/* ---- one maker and one use of each struct ---- */

static const char *const patterns[] = {"*"};

#define MAKER(name, type, value)                                                                                       \
    static void make_##name(world *w, void *out)                                                                       \
    {                                                                                                                  \
        (void)w;                                                                                                       \
        *(type *)out = (value);                                                                                        \
    }

MAKER(graph, mw_graph_options, mw_graph_defaults())
MAKER(compile, mw_compile_options, mw_compile_defaults())
MAKER(chip_check, mw_chip_check_options, mw_chip_check_defaults())
MAKER(chip_place, mw_chip_place_options, mw_chip_place_defaults())
MAKER(chip_plan, mw_chip_plan_options, mw_chip_plan_defaults())
MAKER(ane, mw_ane_options, mw_ane_defaults())
MAKER(e5, mw_e5_options, mw_e5_defaults())
MAKER(chip_run, mw_chip_run_options, mw_chip_run_defaults())
MAKER(hwx_emit, mw_hwx_emit_options, mw_hwx_emit_defaults())
MAKER(compare, mw_compare_options, mw_compare_defaults())
MAKER(trainer, mw_trainer_options, mw_trainer_defaults(w->loss, mw_adam(0.1f)))
static mw_status no_update(const mw_update_call *c, mw_tensor **p, mw_tensor **states, mw_error *err)
{
    (void)states, (void)err, *p = c->p;
    return MW_OK;
}
MAKER(rule, mw_optimizer_rule, mw_optimizer_rule_defaults("mine", no_update))
MAKER(fit, mw_fit_options, mw_fit_defaults(w->data, 1))
MAKER(metrics, mw_metrics_options, mw_metrics_defaults())
MAKER(loader, mw_loader_options, mw_loader_defaults(w->data, 2))
MAKER(tune, mw_tune_options, mw_tune_defaults(patterns, 1))
MAKER(lora, mw_lora_options, mw_lora_defaults(patterns, 1))
MAKER(write, mw_write_options, mw_write_defaults())
MAKER(compress, mw_compress_options, mw_compress_defaults(MW_WEIGHTS_PALETTE))
static const mw_table_column table_columns[] = {{.name = "x", .dtype = MW_F32}};
MAKER(table, mw_table_options, mw_table_defaults(table_columns, 1))
MAKER(images, mw_image_options, mw_image_defaults())
MAKER(netplist, mw_netplist_options, mw_netplist_defaults())
MAKER(onnx, mw_onnx_options, mw_onnx_defaults())
MAKER(model, mw_model_options, mw_model_defaults())
MAKER(description, mw_description, mw_description_defaults())
MAKER(conv, mw_conv_options, mw_conv_defaults())
MAKER(pool, mw_pool_options, mw_pool_defaults(MW_SHAPE(2, 2)))
MAKER(recurrent, mw_recurrent_options, mw_recurrent_defaults())
MAKER(recurrent_layer, mw_recurrent_layer_options, mw_recurrent_layer_defaults())
MAKER(resample, mw_resample_options, mw_resample_defaults())
MAKER(crop, mw_crop_resize_options, mw_crop_resize_defaults())
MAKER(suppression, mw_non_maximum_suppression_options, mw_non_maximum_suppression_defaults())
MAKER(loss, mw_cross_entropy_options, mw_cross_entropy_defaults())
MAKER(load, mw_weights_options, mw_weights_defaults())
MAKER(gradcheck, mw_gradcheck_options, mw_gradcheck_defaults(w->loss, &w->kernel, 1))

/* True if the call was accepted; else w->err says why. */
typedef bool use_function(world *w, const void *options);

static bool use_graph(world *w, const void *options)
{
    mw_graph *graph = mw_graph_create(options, NULL);
    const bool made = graph != NULL;
    mw_graph_destroy(graph);
    char *text = mw_graph_print_mil(w->graph, NULL, &w->err);
    graph = mw_graph_parse_mil(text, strlen(text), NULL, options, &w->err);
    const bool parsed = graph != NULL;
    mw_graph_destroy(graph);
    mw_string_free(text);
    mw_error read = {0}; /* of a file that is not there: the options are looked at first */
    CHECK(mw_graph_open_mil("no/such.mil", options, &read) == NULL);
    CHECK_INT(read.status, w->err.status == MW_OK ? MW_ERROR_FILE : MW_ERROR_ARGUMENT);
    CHECK(made == parsed);
    return made;
}

static bool use_compile(world *w, const void *options)
{
    mw_program *program = mw_program_create(w->graph, options, &w->err);
    mw_program_destroy(program);
    return program != NULL;
}

static bool use_chip_check(world *w, const void *options)
{
    mw_chip_report *report = mw_chip_report_create(w->graph, MW_CHIP_H13, options, &w->err);
    mw_chip_report_destroy(report);
    return report != NULL;
}

static bool use_chip_place(world *w, const void *options)
{
    mw_chip_placement *placement = mw_chip_placement_create(w->graph, MW_CHIP_H13, options, &w->err);
    mw_chip_placement_destroy(placement);
    return placement != NULL;
}

static bool use_chip_plan(world *w, const void *options)
{
    mw_chip_plan *plan = mw_chip_plan_create(w->graph, MW_CHIP_H13, options, &w->err);
    mw_chip_plan_destroy(plan);
    return plan != NULL;
}

static bool use_ane(world *w, const void *options)
{
    void *bytes = NULL;
    size_t size = 0;
    mw_hwx *hwx = mw_hwx_open(MW_TESTS_DIR "/fuzz/corpus/hwx/h13", &w->err);
    mw_hwx_write_ane(hwx, options, &bytes, &size, &w->err);
    mw_string_free(bytes);
    mw_hwx_destroy(hwx);
    return w->err.status == MW_OK;
}

static bool use_e5(world *w, const void *options)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F16, MW_SHAPE(1, 2))), "y");
    mw_e5 *e5 = mw_e5_create(graph, options, &w->err);
    mw_e5_destroy(e5);
    mw_graph_destroy(graph);
    return e5 != NULL;
}

/* A relu of four numbers as a program of the chip. */
static mw_status emit_relu(const mw_hwx_emit_options *options, mw_hwx_emission *out, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F16, MW_SHAPE(4))), "y");
    const mw_status status = mw_hwx_emit(graph, options, out, err);
    mw_graph_destroy(graph);
    return status;
}

static bool use_hwx_emit(world *w, const void *options)
{
    mw_hwx_emission made;
    const mw_status status = emit_relu(options, &made, &w->err);
    mw_string_free(made.data);
    return status == MW_OK;
}

static bool use_chip_run(world *w, const void *options)
{
    uint16_t x[4] = {0}, y[4];
    const mw_chip_buffer buffers[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
    mw_hwx_emission made;
    emit_relu(NULL, &made, &w->err);
    mw_hwx *hwx = mw_hwx_parse(made.data, made.size, NULL, &w->err);
    mw_chip_run(hwx, buffers, 2, options, &w->err);
    mw_hwx_destroy(hwx);
    mw_string_free(made.data);
    return w->err.status == MW_OK;
}

static bool use_compare(world *w, const void *options)
{
    mw_comparison *comparison = mw_comparison_create(w->graph, options, &w->err);
    mw_comparison_destroy(comparison);
    return comparison != NULL;
}

static bool use_rule(world *w, const void *rule)
{
    const mw_trainer_options options = mw_trainer_defaults(w->loss, mw_optimizer_custom(0.1f, rule));
    mw_trainer *trainer = mw_trainer_create(&options, &w->err);
    mw_trainer_destroy(trainer);
    return trainer != NULL;
}

static bool use_trainer(world *w, const void *options)
{
    mw_trainer *trainer = mw_trainer_create(options, &w->err);
    mw_trainer_destroy(trainer);
    return trainer != NULL;
}

static bool use_fit(world *w, const void *options)
{
    mw_fit_options quiet = *(const mw_fit_options *)options;
    quiet.progress.quiet = quiet.progress.ignore_signals = true;
    return mw_trainer_fit(w->trainer, &quiet, &w->err) == MW_OK;
}

static bool use_metrics(world *w, const void *options)
{
    mw_metrics *metrics = mw_metrics_create("metrics.csv", options, &w->err);
    mw_metrics_destroy(metrics);
    return metrics != NULL;
}

static bool use_loader(world *w, const void *options)
{
    mw_loader *loader = mw_loader_create(options, &w->err);
    mw_loader_destroy(loader);
    return loader != NULL;
}

static bool use_tune(world *w, const void *options)
{
    mw_graph *graph = mw_graph_trainable(w->graph, options, &w->err);
    mw_graph_destroy(graph);
    return graph != NULL;
}

static bool use_lora(world *w, const void *options)
{
    mw_lora_options own = *(const mw_lora_options *)options;
    own.skip_fixed = true;
    mw_graph *graph = mw_graph_lora(w->graph, &own, &w->err);
    mw_graph_destroy(graph);
    return graph != NULL;
}

static bool use_write(world *w, const void *options)
{
    char *text = mw_graph_print_mil(w->graph, options, &w->err);
    mw_string_free(text);
    return text != NULL;
}

static bool use_compress(world *w, const void *options)
{
    mw_graph *small = mw_graph_compress(w->graph, options, &w->err);
    mw_graph_destroy(small);
    return small != NULL;
}

/* A library without protobuf-c refuses whatever it is given, and looks at no options: in its place, by their size. */
static bool good_if_built(world *w, bool taken, bool good)
{
    const bool built = strstr(w->err.message, "built without") == NULL;
    w->err.status = built ? w->err.status : good ? MW_OK : MW_ERROR_ARGUMENT;
    return built ? taken : good;
}

static void make_transport(world *w, void *out)
{
    (void)w;
    const mw_transport transport = ranks_alone();
    memcpy(out, &transport, sizeof transport);
}

static bool use_transport(world *w, const void *options)
{
    mw_communicator *made = mw_communicator_create(options, NULL, &w->err);
    mw_communicator_destroy(made);
    return made != NULL;
}

static bool use_netplist(world *w, const void *options)
{
    char folder[512];
    const mw_netplist_options *netplist = options;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    CHECK(folder_enter(folder));
    const mw_status status = mw_graph_write_netplist(graph, "y.plist", netplist, &w->err);
    folder_leave(folder);
    mw_graph_destroy(graph);
    return good_if_built(w, status == MW_OK,
                         netplist->struct_size == sizeof *netplist && mw_chip_name(netplist->chip) != NULL);
}

/* Of files that are not there: the options are looked at first. */
static bool use_table(world *w, const void *options)
{
    return mw_dataset_open_csv("no/such.csv", options, &w->err) == NULL && w->err.status == MW_ERROR_FILE;
}

static bool use_images(world *w, const void *options)
{
    return mw_dataset_open_images("no/such/folder", options, &w->err) == NULL && w->err.status == MW_ERROR_FILE;
}

static bool use_model(world *w, const void *options)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_model *model = mw_model_create(graph, options, &w->err);
    mw_model_destroy(model);
    mw_graph_destroy(graph);
    return model != NULL;
}

static bool use_onnx(world *w, const void *options)
{
    const mw_onnx_options *onnx = options;
    CHECK(mw_graph_open_onnx("no/such.onnx", onnx, &w->err) == NULL);
    return good_if_built(w, w->err.status == MW_ERROR_FILE, onnx->struct_size == sizeof *onnx);
}

static bool use_description(world *w, const void *options)
{
    char *text = mw_description_print(options, &w->err);
    mw_string_free(text);
    return text != NULL;
}

/* Constructors leave their error on the graph; a loss that failed is no NULL. */
static bool note(world *w, const mw_tensor *result)
{
    return mw_graph_check(w->graph, &w->err) == MW_OK && result != NULL;
}

static bool use_conv(world *w, const void *options) { return note(w, mw_conv(w->image, w->kernel, NULL, options)); }
static bool use_pool(world *w, const void *options) { return note(w, mw_max_pool(w->image, options)); }
static bool use_recurrent(world *w, const void *options)
{
    mw_tensor *x = mw_input(w->graph, "sequence", MW_F32, MW_SHAPE(3, 2, 2));
    mw_tensor *weight = mw_input(w->graph, "gates", MW_F32, MW_SHAPE(8, 2));
    const mw_recurrent_weights weights = {.weight_ih = weight, .weight_hh = weight};
    return note(w, mw_lstm(x, NULL, NULL, &weights, options).y);
}

static bool use_recurrent_layer(world *w, const void *options)
{
    mw_tensor *x = mw_input(w->graph, "sequence", MW_F32, MW_SHAPE(3, 2, 2));
    return note(w, mw_lstm_layer(x, 2, "lstm", options).y);
}

static bool use_resample(world *w, const void *options)
{
    return note(w, mw_resample(w->image, mw_fill(w->graph, MW_F32, MW_SHAPE(1, 3, 3, 2), 0.5), options));
}

static bool use_crop(world *w, const void *options)
{
    mw_tensor *boxes = mw_fill(w->graph, MW_F32, MW_SHAPE(1, 4), 2.0);
    return note(w, mw_crop_resize(w->image, boxes, NULL, 2, 2, options));
}

static bool use_suppression(world *w, const void *options)
{
    mw_tensor *boxes = mw_fill(w->graph, MW_F32, MW_SHAPE(1, 4, 5), 2.0), *kept = NULL, *scores = NULL;
    mw_tensor *all = mw_fill(w->graph, MW_F32, MW_SHAPE(1, 1, 5), 0.5);
    mw_non_maximum_suppression(boxes, all, 2, options, &kept, &scores, NULL, NULL);
    return note(w, kept);
}

static bool use_loss(world *w, const void *options)
{
    return note(w, mw_cross_entropy_with(w->logits, w->labels, options));
}

static bool use_gradcheck(world *w, const void *options)
{
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = example_x, .count = (size_t)N * D},
                             {.name = "y", .dtype = MW_I32, .data = example_y, .count = N}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = N};
    mw_tensor *weight = mw_graph_find(w->graph, "fc.weight");
    mw_gradcheck_options own = *(const mw_gradcheck_options *)options;
    own.batch = &batch;
    own.x = own.x != NULL ? &weight : NULL;
    return mw_gradcheck_run(&own, NULL, &w->err) == MW_OK;
}

/* Weights that the trainer itself wrote; left in the folder of temporary files for as long as the call takes. */
static bool use_load(world *w, const void *options)
{
    char path[] = "/tmp/mw-options-XXXXXX";
    const int descriptor = mkstemp(path);
    if (descriptor < 0)
        return false;
    close(descriptor);
    mw_trainer_save_weights(w->trainer, path, &w->err);
    const bool taken = mw_trainer_load_weights(w->trainer, path, options, &w->err) == MW_OK;
    remove(path);
    return taken;
}

typedef struct struct_row {
    const char *name;
    size_t size;
    void (*make)(world *w, void *out);
    use_function *use;
} struct_row;

#define ROW(type, name)                                                                                                \
    {                                                                                                                  \
#type, sizeof(type), make_##name, use_##name                                                                   \
    }
static const struct_row structs[] = {
    ROW(mw_graph_options, graph),
    ROW(mw_compile_options, compile),
    ROW(mw_chip_check_options, chip_check),
    ROW(mw_chip_place_options, chip_place),
    ROW(mw_draw_options, draw),
    ROW(mw_plot_options, plot),
    ROW(mw_report_options, report),
    ROW(mw_chip_plan_options, chip_plan),
    ROW(mw_ane_options, ane),
    ROW(mw_e5_options, e5),
    ROW(mw_chip_run_options, chip_run),
    ROW(mw_hwx_emit_options, hwx_emit),
    ROW(mw_compare_options, compare),
    ROW(mw_range_options, range),
    ROW(mw_trainer_options, trainer),
    ROW(mw_optimizer_rule, rule),
    ROW(mw_transport, transport),
    ROW(mw_fit_options, fit),
    ROW(mw_metrics_options, metrics),
    ROW(mw_loader_options, loader),
    ROW(mw_tune_options, tune),
    ROW(mw_lora_options, lora),
    ROW(mw_write_options, write),
    ROW(mw_compress_options, compress),
    ROW(mw_description, description),
    ROW(mw_table_options, table),
    ROW(mw_table_fit_options, table_fit),
    ROW(mw_table_stream_options, table_stream),
    ROW(mw_augment_options, augment),
    ROW(mw_window_options, window),
    ROW(mw_app_options, app),
    ROW(mw_mix_options, mix),
    ROW(mw_normalize_options, normalize),
    ROW(mw_divide_options, divide),
    ROW(mw_image_options, images),
    ROW(mw_sound_options, sounds),
    ROW(mw_sound_change_options, sound_change),
    ROW(mw_log_mel_options, log_mel),
    ROW(mw_netplist_options, netplist),
    ROW(mw_onnx_options, onnx),
    ROW(mw_model_options, model),
    ROW(mw_conv_options, conv),
    ROW(mw_pool_options, pool),
    ROW(mw_cross_entropy_options, loss),
    ROW(mw_encode_options, encode),
    ROW(mw_tokenizer_train_options, train_tokens),
    ROW(mw_text_config, text_config),
    ROW(mw_text_graph_options, text_graph),
    ROW(mw_text_data_options, text_data),
    ROW(mw_text_model_options, text_model),
    ROW(mw_text_save_options, text_save),
    ROW(mw_generate_options, generate),
    ROW(mw_embed_options, embed),
    ROW(mw_gradcheck_options, gradcheck),
    ROW(mw_weights_options, load),
    ROW(mw_recurrent_options, recurrent),
    ROW(mw_recurrent_layer_options, recurrent_layer),
    ROW(mw_resample_options, resample),
    ROW(mw_crop_resize_options, crop),
    ROW(mw_non_maximum_suppression_options, suppression),
};
enum { STRUCTS = sizeof structs / sizeof structs[0] };

typedef union any_options {
    size_t struct_size; /* their first field, all of them */
    char bytes[2048];
    max_align_t aligned;
} any_options;

static void test_defaults_are_accepted(void)
{
    for (int i = 0; i < STRUCTS; i++) {
        world w;
        any_options options = {0};
        world_init(&w);
        REQUIRE(structs[i].size <= sizeof options);
        structs[i].make(&w, &options);
        check_note(structs[i].use(&w, &options), __FILE__, __LINE__, "%s: %s", structs[i].name, w.err.message);
        world_deinit(&w);
    }
}

static void test_a_wrong_struct_size_is_refused(void)
{
    for (int i = 0; i < STRUCTS; i++) {
        const size_t sizes[] = {0, 1, structs[i].size - 8, structs[i].size + 8, structs[i].size * 2, SIZE_MAX};
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            world w;
            any_options options;
            world_init(&w);
            memset(&options, 0x5a, sizeof options); /* behind the struct is something, too */
            structs[i].make(&w, &options);
            options.struct_size = sizes[k];
            const bool taken = structs[i].use(&w, &options);
            check_note(!taken && w.err.status != MW_OK, __FILE__, __LINE__, "%s of size %zu: status %d \"%s\"",
                       structs[i].name, sizes[k], (int)w.err.status, w.err.message);
            world_deinit(&w);
        }
    }
}

/* ---- fields ---- */

#define FIELD(type, name, ...)                                                                                         \
    do {                                                                                                               \
        world w;                                                                                                       \
        type options;                                                                                                  \
        world_init(&w);                                                                                                \
        make_##name(&w, &options);                                                                                     \
        __VA_ARGS__;                                                                                                   \
        const bool taken = use_##name(&w, &options);                                                                   \
        check_note(!taken && w.err.status != MW_OK && w.err.message[0] != '\0', __FILE__, __LINE__, "accepted: %s",    \
                   #__VA_ARGS__);                                                                                      \
        world_deinit(&w);                                                                                              \
    } while (0)

static void test_programs_refuse_options_out_of_range(void)
{
    FIELD(mw_compile_options, compile, options.device = (mw_device)3);
    FIELD(mw_compile_options, compile, options.device = (mw_device)-1);
    FIELD(mw_compile_options, compile, options.provider = (mw_provider)9);
    FIELD(mw_compile_options, compile, options.threads = -1);
    FIELD(mw_compile_options, compile, options.threads = INT_MAX);
    FIELD(mw_compile_options, compile, options.chip = (mw_chip)10);
    FIELD(mw_compile_options, compile, options.keep_folder = "");
    FIELD(mw_compile_options, compile, options.cache_folder = "");
    FIELD(mw_compile_options, compile, options.max_plans = -1);
    FIELD(mw_compile_options, compile, options.max_plans = 1025);
    FIELD(mw_compile_options, compile, options.function = "");
    FIELD(mw_compile_options, compile, options.function = "no such");
    FIELD(mw_chip_check_options, chip_check, options.judge = (mw_chip_judge)2);
    FIELD(mw_chip_check_options, chip_check, options.function = "no such");
    FIELD(mw_chip_place_options, chip_place, options.segmenter = (mw_chip_segmenter)3);
    FIELD(mw_chip_place_options, chip_place, options.anchors = (mw_chip_anchors)3);
    FIELD(mw_chip_place_options, chip_place, options.launch_ane_us = -1.0);
    FIELD(mw_chip_place_options, chip_place, options.transfer_other_us = (double)NAN);
    FIELD(mw_chip_place_options, chip_place, options.output_ane_us = -1.0);
    FIELD(mw_chip_place_options, chip_place, options.die = "no such");
    FIELD(mw_chip_place_options, chip_place, options.function = "no such");
    FIELD(mw_ane_options, ane, options.payload_offset = 0x100);
    FIELD(mw_ane_options, ane, options.payload_offset = UINT64_MAX);
    FIELD(mw_e5_options, e5, options.row_bytes = 0);
    FIELD(mw_e5_options, e5, options.container = NULL);
    FIELD(mw_e5_options, e5, options.function = "no such");
    FIELD(mw_netplist_options, netplist, options.chip = (mw_chip)10);
    FIELD(mw_chip_run_options, chip_run, options.profile = "no such");
    FIELD(mw_chip_run_options, chip_run, options.work_limit = 0);
    FIELD(mw_hwx_emit_options, hwx_emit, options.kernel_name = "no such");
    FIELD(mw_compare_options, compare, options.relative = (double)NAN);
    FIELD(mw_compare_options, compare, options.absolute = -1.0);
    FIELD(mw_compare_options, compare, options.relative = (double)INFINITY);
    FIELD(mw_compare_options, compare, options.device.threads = -1);
    FIELD(mw_compare_options, compare, options.reference.struct_size = 0);
    FIELD(mw_compare_options, compare, options.batch_path = "no such");
    FIELD(mw_compress_options, compress, options.bits = 3);
    FIELD(mw_compress_options, compress, options.form = (mw_weight_form)0);
    FIELD(mw_compress_options, compress, options.least_elements = 0);
    FIELD(mw_write_options, write, options.opset = (mw_opset)14);
    FIELD(mw_write_options, write, options.opset = (mw_opset)-1);
}

static void test_plans_of_a_chip_refuse_options_out_of_range(void)
{
    FIELD(mw_chip_plan_options, chip_plan, options.function = "no such");
    FIELD(mw_chip_plan_options, chip_plan, options.margin = 0.0);
    FIELD(mw_chip_plan_options, chip_plan, options.margin = (double)NAN);
    FIELD(mw_chip_plan_options, chip_plan, options.margin = 1.5);
    FIELD(mw_chip_plan_options, chip_plan, options.row_alignment = 0);
    FIELD(mw_chip_plan_options, chip_plan, options.alignment = INT64_MAX);
    FIELD(mw_chip_plan_options, chip_plan, options.kernel_max = -1);
    FIELD(mw_chip_plan_options, chip_plan, options.matmul_weight_max = -1);
    FIELD(mw_chip_plan_options, chip_plan, options.stream_tile = -1);
    FIELD(mw_chip_plan_options, chip_plan, options.ring_windows = 0);
    FIELD(mw_chip_plan_options, chip_plan, options.co_issue_window = SIZE_MAX);
    FIELD(mw_chip_plan_options, chip_plan, options.absorbers = (mw_chip_absorbers)3);
    FIELD(mw_chip_plan_options, chip_plan, options.scale = (mw_chip_scale)-1);
    FIELD(mw_chip_plan_options, chip_plan, options.concat = (mw_chip_concat)2);
    FIELD(mw_chip_plan_options, chip_plan, options.order = (mw_chip_order)2);
    FIELD(mw_chip_plan_options, chip_plan, options.branch_score = (mw_chip_score)3);
    FIELD(mw_chip_plan_options, chip_plan, options.merge_score = (mw_chip_score)3);
}

static void test_loaders_refuse_options_out_of_range(void)
{
    FIELD(mw_loader_options, loader, options.rank = 1);
    FIELD(mw_loader_options, loader, options.rank = 2, options.ranks = 2);
    FIELD(mw_loader_options, loader, options.rank = -1, options.ranks = 2);
    FIELD(mw_loader_options, loader, options.ranks = -1);
    FIELD(mw_loader_options, loader, options.batch = 0);
    FIELD(mw_loader_options, loader, options.batch = -1);
    FIELD(mw_loader_options, loader, options.batch = INT64_MAX);
    FIELD(mw_loader_options, loader, options.batch = INT64_MAX; options.drop_last = false);
    FIELD(mw_loader_options, loader, options.dataset = NULL);
}

static void test_graph_options_out_of_range_are_refused(void)
{
    FIELD(mw_tune_options, tune, options.pattern_count = 0);
    FIELD(mw_tune_options, tune, options.patterns = NULL);
    FIELD(mw_tune_options, tune, options.last = -1);
    FIELD(mw_tune_options, tune, options.last = 1000);
    FIELD(mw_tune_options, tune, options.dtype = (mw_dtype)99);
    FIELD(mw_tune_options, tune, options.dtype = MW_I32);
    FIELD(mw_tune_options, tune, options.shape_count = 3);
    FIELD(mw_lora_options, lora, options.last = -1);
    FIELD(mw_lora_options, lora, options.rank = 0);
    FIELD(mw_lora_options, lora, options.rank = -4);
    FIELD(mw_lora_options, lora, options.alpha = -1.0f);
    FIELD(mw_lora_options, lora, options.alpha = (float)NAN);
    FIELD(mw_lora_options, lora, options.alpha = INFINITY);
    FIELD(mw_lora_options, lora, options.dtype = (mw_dtype)99);
    FIELD(mw_weights_options, load, options.prefix_count = 1);
    FIELD(mw_weights_options, load, options.prefixes = &(mw_weights_prefix){"a", NULL}; options.prefix_count = 1);
    FIELD(mw_conv_options, conv, options.groups = 0);
    FIELD(mw_conv_options, conv, options.groups = -1);
    FIELD(mw_conv_options, conv, options.stride[0] = 0);
    FIELD(mw_conv_options, conv, options.dilation[1] = -1);
    FIELD(mw_conv_options, conv, options.pad_type = MW_PAD_CUSTOM; options.pad[0] = -1);
    FIELD(mw_conv_options, conv, options.pad_type = (mw_pad_type)0);
    FIELD(mw_recurrent_options, recurrent, options.direction = (mw_direction)0);
    FIELD(mw_recurrent_options, recurrent, options.direction = MW_BIDIRECTIONAL);
    FIELD(mw_recurrent_options, recurrent, options.activation = (mw_activation)7);
    FIELD(mw_recurrent_options, recurrent, options.recurrent_activation = (mw_activation)-1);
    FIELD(mw_recurrent_options, recurrent, options.cell_activation = (mw_activation)0);
    FIELD(mw_recurrent_options, recurrent, options.clip = -1.0);
    FIELD(mw_recurrent_options, recurrent, options.clip = (double)NAN);
    FIELD(mw_recurrent_options, recurrent, options.reset_after = true);
    FIELD(mw_recurrent_layer_options, recurrent_layer, options.layers = 0);
    FIELD(mw_recurrent_layer_options, recurrent_layer, options.layers = INT_MAX);
    FIELD(mw_recurrent_layer_options, recurrent_layer, options.dropout = 1.0F; options.layers = 2);
    FIELD(mw_recurrent_layer_options, recurrent_layer, options.dropout = (float)NAN);
    FIELD(mw_recurrent_layer_options, recurrent_layer, options.h = w.x);
    FIELD(mw_recurrent_layer_options, recurrent_layer, options.c = w.x);
    FIELD(mw_pool_options, pool, options.kernel = mw_shape_scalar());
    FIELD(mw_pool_options, pool, options.kernel.dim[0] = 0);
    FIELD(mw_pool_options, pool, options.stride[0] = -1);
    FIELD(mw_pool_options, pool, options.pad_type = (mw_pad_type)77);
    FIELD(mw_resample_options, resample, options.interpolation = (mw_interpolation_mode)2);
    FIELD(mw_resample_options, resample, options.border = (mw_border)-1);
    FIELD(mw_resample_options, resample, options.coordinates = (mw_coordinates)3);
    FIELD(mw_crop_resize_options, crop, options.box = (mw_box)4);
    FIELD(mw_crop_resize_options, crop, options.sampling = (mw_sampling_mode)5);
    FIELD(mw_non_maximum_suppression_options, suppression, options.iou_threshold = NAN);
    FIELD(mw_non_maximum_suppression_options, suppression, options.score_threshold = 0.5f);
    FIELD(mw_cross_entropy_options, loss, options.label_smoothing = (float)NAN);
    FIELD(mw_cross_entropy_options, loss, options.label_smoothing = 1.5f);
    FIELD(mw_cross_entropy_options, loss, options.class_count = 2);
    FIELD(mw_gradcheck_options, gradcheck, options.step = (double)NAN);
    FIELD(mw_gradcheck_options, gradcheck, options.step = -1.0);
    FIELD(mw_gradcheck_options, gradcheck, options.tolerance = (double)NAN);
    FIELD(mw_gradcheck_options, gradcheck, options.x = NULL);
}

static void test_texts_refuse_options_out_of_range(void)
{
    FIELD(mw_text_config, text_config, options.layers = 0);
    FIELD(mw_text_graph_options, text_graph, options.tokens = 129);
    FIELD(mw_text_graph_options, text_graph, options.cache = -1);
    FIELD(mw_text_model_options, text_model, options.cache = 65);
    FIELD(mw_generate_options, generate, options.temperature = (float)NAN);
    FIELD(mw_generate_options, generate, options.top_p = 1.5F);
    FIELD(mw_generate_options, generate, options.stop_count = 1);
    FIELD(mw_embed_options, embed, options.pooling = (mw_pooling)3);
    FIELD(mw_text_graph_options, text_graph, options.tuning.rank = -1);
    FIELD(mw_text_graph_options, text_graph, options.tuning.alpha = (float)NAN);
    FIELD(mw_text_graph_options, text_graph, options.tuning.weight_count = 1);
    FIELD(mw_text_model_options, text_model, options.tuning.rank = 4);
    FIELD(mw_app_options, app, options.image.input = "gone");
    FIELD(mw_app_options, app, options.image.layout = MW_IMAGE_NONE);
    FIELD(mw_app_options, app, options.image.height = 16385);
    FIELD(mw_app_options, app, options.image.scale[0] = NAN);
    FIELD(mw_app_options, app, options.image.bias[0] = INFINITY);
    FIELD(mw_app_options, app, options.scores = "gone");
    FIELD(mw_app_options, app, options.is_probabilities = true);
    FIELD(mw_table_stream_options, table_stream, options.path = NULL);
    FIELD(mw_table_stream_options, table_stream, options.function = NULL);
    FIELD(mw_table_stream_options, table_stream, options.rows = 0);
    FIELD(mw_table_stream_options, table_stream, options.rows = 65537);
    FIELD(mw_table_stream_options, table_stream, options.id = "gone");
    FIELD(mw_table_stream_options, table_stream, options.form.separator = 'x');
    FIELD(mw_table_fit_options, table_fit, options.path = NULL);
    FIELD(mw_table_fit_options, table_fit, options.target = "gone");
    FIELD(mw_table_fit_options, table_fit, options.target_kind = (mw_target_kind)9);
    FIELD(mw_table_fit_options, table_fit, options.target_scale = MW_TARGET_LOGARITHM);
    FIELD(mw_table_fit_options, table_fit, options.field_count = 1);
    FIELD(mw_table_fit_options, table_fit, options.validation = 1.0);
    FIELD(mw_table_fit_options, table_fit, options.validation = (double)NAN);
    FIELD(mw_table_fit_options, table_fit, options.split = MW_SPLIT_GROUP);
    FIELD(mw_table_fit_options, table_fit, options.split_field = "a");
    FIELD(mw_table_fit_options, table_fit, options.form.separator = 'x');
    FIELD(mw_table_fit_options, table_fit, options.form.decimal = 'x');
    FIELD(mw_table_fit_options, table_fit, options.form.encoding = (mw_text_encoding)99);
    FIELD(mw_text_data_options, text_data, options.tokens = 0);
    FIELD(mw_text_data_options, text_data, options.tokens = INT64_MAX);
    FIELD(mw_text_data_options, text_data, options.validation = 1.0);
    FIELD(mw_text_data_options, text_data, options.validation = (double)NAN);
    FIELD(mw_text_data_options, text_data, options.words = -1);
    FIELD(mw_text_data_options, text_data, options.buckets = true);
    FIELD(mw_text_data_options, text_data, options.apart = true);
    FIELD(mw_text_data_options, text_data, options.whole = true);
    FIELD(mw_text_data_options, text_data, options.chat = "chatml");
    FIELD(mw_text_data_options, text_data, options.cache = "x");
    FIELD(mw_text_data_options, text_data, options.multiple = 0);
    FIELD(mw_text_data_options, text_data, options.multiple = INT64_MAX);
}

/* ---- completeness ---- */

static int count_structs(const char *path)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "rb");
    int found = 0;
    if (file == NULL)
        return 0;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (const char *at = text; (at = strstr(at, "size_t struct_size;")) != NULL; at++)
        found++;
    return found;
}

static int count_in_folder(const char *folder)
{
    int found = 0;
    DIR *headers = opendir(folder);
    if (!CHECK(headers != NULL))
        return 0;
    for (const struct dirent *entry; (entry = readdir(headers)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        found += count_structs(path);
    }
    closedir(headers);
    return found;
}

static void test_every_struct_with_a_size_is_here(void)
{
    const char *folder = MW_TESTS_DIR "/../include/millwright";
    CHECK_INT(count_in_folder(folder) + count_in_folder(MW_TESTS_DIR "/../include/millwright/ops"), STRUCTS);
}

int main(void)
{
    for (int i = 0; i < 8; i++)
        example_y[i] = i % C;
    for (int i = 0; i < 8 * D; i++)
        example_x[i] = (float)(i % 5) / 4.0f;
    RUN(test_defaults_are_accepted);
    RUN(test_a_wrong_struct_size_is_refused);
    RUN(test_programs_refuse_options_out_of_range);
    RUN(test_plans_of_a_chip_refuse_options_out_of_range);
    RUN(test_loaders_refuse_options_out_of_range);
    RUN(test_graph_options_out_of_range_are_refused);
    RUN(test_texts_refuse_options_out_of_range);
    RUN(test_every_struct_with_a_size_is_here);
    return check_finish();
}

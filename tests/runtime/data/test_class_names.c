/* Classes have the same number wherever they are paired: in files that are sorted, in a validation set, in sets that
 * are put together, in folders of pictures. */
#include "runtime/small.h"
#include "support/check.h"
#include "support/evaluated.h"
#include "support/folder.h"
#include "support/ranks.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <millwright/view.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static mw_status count_classes(mw_trainer *trainer, const mw_dataset *set, const char *labels, int64_t classes,
                               int64_t *counts, mw_error *err)
{
    const mw_confusion confusion = {.labels = labels, .classes = classes, .counts = counts};
    return mw_trainer_evaluate(trainer, set, &confusion, NULL, err);
}

/* x and a class for each name; the first is of class names[0]. */
static mw_dataset *open_table(const char *const *names, int count, bool jsonl, mw_error *err)
{
    const char *path = jsonl ? "t.jsonl" : "t.csv", *x = "x";
    static const char *const label = "label";
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return NULL;
    if (!jsonl)
        fputs("x,label\n", file);
    for (int i = 0; i < 2 * count; i++)
        fprintf(file, jsonl ? "{\"x\": %d, \"label\": \"%s\"}\n" : "%d,%s\n", i, names[i % count]);
    fclose(file);
    const mw_table_column columns[] = {
        {.name = "x", .dtype = MW_F32, .fields = &x, .field_count = 1},
        {.name = "y", .dtype = MW_I64, .fields = &label, .field_count = 1, .classes = true}};
    const mw_table_options options = mw_table_defaults(columns, 2);
    return (jsonl ? mw_dataset_open_jsonl : mw_dataset_open_csv)(path, &options, err);
}

static void check_order(const char *const *names, int count, const char *order)
{
    for (int jsonl = 0; jsonl < 2; jsonl++) {
        mw_error err = {0};
        char text[200] = "";
        mw_dataset *dataset = open_table(names, count, jsonl != 0, &err);
        CHECK_OK(err);
        const mw_classes classes = mw_dataset_classes(dataset, "y");
        for (size_t i = 0; i < classes.count; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "", classes.names[i]);
        CHECK_STR(text, order);
        mw_dataset_destroy(dataset);
    }
}

static void test_integers_are_ordered_by_value_and_words_by_bytes(void)
{
    check_order((const char *const[]){"10", "9", "2", "11", "-3", "0"}, 6, "-3 0 2 9 10 11");
    check_order((const char *const[]){"10", "9", "b", "11"}, 4, "10 11 9 b");
    check_order((const char *const[]){"7", "07", "10"}, 3, "07 7 10");
    check_order((const char *const[]){"1.5", "10", "9"}, 3, "1.5 10 9");
}

static const char *const ant_bee_cow[] = {"ant", "bee", "cow"}, *const bee_cow[] = {"bee", "cow"},
                         *const ant_bee[] = {"ant", "bee"};

static void test_sets_with_other_classes_are_not_put_together(void)
{
    mw_error err = {0};
    mw_dataset *all = open_table(ant_bee_cow, 3, false, &err), *some = open_table(bee_cow, 2, false, &err),
               *first = open_table(ant_bee, 2, false, &err);
    CHECK_OK(err);
    mw_dataset *both = mw_dataset_concatenate((const mw_dataset *const[]){all, first}, 2, &err);
    CHECK_OK(err); /* their numbers agree */
    mw_dataset_destroy(both);
    CHECK(mw_dataset_concatenate((const mw_dataset *const[]){all, some}, 2, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "\"y\" are bee, cow, and those of the first set are ant, bee, cow");
    mw_error_clear(&err);
    CHECK(mw_dataset_concatenate((const mw_dataset *const[]){first, all}, 2, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_ARGUMENT);
    mw_dataset_destroy(all);
    mw_dataset_destroy(some);
    mw_dataset_destroy(first);
}

static mw_trainer *make_trainer(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(2));
    mw_tensor *scores = mw_dense(mw_reshape(x, MW_SHAPE(2, 1)), 3, "fc");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(scores, y), mw_sgd(0.01f));
    options.prediction = scores;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void test_a_validation_set_with_other_classes_is_refused(void)
{
    mw_error err = {0};
    mw_dataset *all = open_table(ant_bee_cow, 3, false, &err), *some = open_table(bee_cow, 2, false, &err),
               *first = open_table(ant_bee, 2, false, &err);
    mw_trainer *trainer = make_trainer(&err);
    CHECK_OK(err);
    mw_fit_options options = mw_fit_defaults(all, 1);
    options.progress.quiet = true;
    options.data.validation = first;
    mw_trainer_fit(trainer, &options, &err);
    CHECK_OK(err);
    options.data.validation = some;
    CHECK_INT(mw_trainer_fit(trainer, &options, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "mw_trainer_fit: validation: the classes of column \"y\" are bee, cow");
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(all);
    mw_dataset_destroy(some);
    mw_dataset_destroy(first);
}

/* The numbers of its scores are those of the classes that it learned, wherever data comes from later. */
static void test_a_trainer_knows_the_classes_that_it_learned(void)
{
    static const char *const cow_ant_bee[] = {"cow", "bee", "dog"};
    mw_error err = {0};
    int64_t counts[9];
    double loss;
    mw_dataset *all = open_table(ant_bee_cow, 3, false, &err), *some = open_table(bee_cow, 2, false, &err),
               *first = open_table(ant_bee, 2, true, &err), *other = open_table(cow_ant_bee, 3, true, &err);
    mw_trainer *trainer = make_trainer(&err);
    CHECK_INT(mw_trainer_classes(trainer, "y").count, 0);
    CHECK_OK(err);
    mw_trainer_evaluate(trainer, some, NULL, NULL, &err); /* it has learned none */
    CHECK_OK(err);
    mw_fit_options options = mw_fit_defaults(all, 1);
    options.progress.quiet = true;
    mw_trainer_fit(trainer, &options, &err);
    mw_dataset_destroy(all);
    CHECK_INT(mw_trainer_classes(trainer, "y").count, 3);
    CHECK_INT(mw_trainer_classes(trainer, "x").count, 0);
    CHECK_STR(mw_trainer_classes(trainer, "y").names[2], "cow");
    mw_trainer_evaluate(trainer, first, NULL, NULL, &err);
    count_classes(trainer, first, "y", 3, counts, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_evaluate(trainer, some, NULL, NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "column \"y\" are bee, cow, and those that the trainer learned are ant, bee, cow");
    mw_error_clear(&err);
    CHECK_INT(evaluated(trainer, other, &loss, NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "are bee, cow, dog, and those that the trainer learned are ant, bee, cow");
    mw_error_clear(&err);
    CHECK_INT(count_classes(trainer, some, "y", 3, counts, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "mw_trainer_evaluate: the classes of column \"y\" are bee, cow");
    mw_error_clear(&err);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(some);
    mw_dataset_destroy(first);
    mw_dataset_destroy(other);
}

/* ---- sets that are made of others ---- */

enum { DERIVED = 8 };
static const char *const kinds[DERIVED] = {"subset",   "shard",         "split",           "map",
                                           "prefetch", "concatenation", "a second source", "one on another"};

static mw_status copy_columns(void *user, const mw_map_example *example, mw_error *err)
{
    (void)user, (void)err;
    memcpy(example->out[0], example->in[0], sizeof(float));
    memcpy(example->out[1], example->in[1], sizeof(int64_t));
    return MW_OK;
}

static mw_dataset *derive(int kind, const mw_dataset *source, mw_error *err)
{
    static const int64_t chosen[] = {1, 0, 3, 2}, counts[] = {4, -1}, labels[] = {0, 0};
    static const float zeros[2] = {0};
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32}, {.name = "y", .dtype = MW_I64}},
                    unnamed[] = {{.name = "x", .dtype = MW_F32, .data = zeros},
                                 {.name = "y", .dtype = MW_I64, .data = labels}};
    mw_dataset *parts[2] = {NULL, NULL}, *out = NULL, *inner = NULL;
    switch (kind) {
    case 0:
        return mw_dataset_subset(source, chosen, 4, err);
    case 1:
        return mw_dataset_shard(source, 0, 1, err);
    case 2:
        mw_dataset_split(source, counts, 2, 7, parts, err);
        mw_dataset_destroy(parts[1]);
        return parts[0];
    case 3:
        return mw_dataset_map(source, columns, 2, copy_columns, NULL, 1, err);
    case 4:
        return mw_dataset_prefetch(source, 1, err);
    case 5:
        return mw_dataset_concatenate((const mw_dataset *const[]){source, source}, 2, err);
    case 6:
        inner = mw_dataset_create(unnamed, 2, 2, true, err);
        out = mw_dataset_concatenate((const mw_dataset *const[]){inner, source, inner}, 3, err);
        break;
    default:
        inner = derive(6, source, err);
        out = derive(0, inner, err);
        break;
    }
    mw_dataset_destroy(inner);
    return out;
}

static const char *const bee_cow_dog[] = {"bee", "cow", "dog"};

/* Whether the names of `all` are compared with those of `other`, in every place that compares. */
static void check_compared(const mw_dataset *all, const mw_dataset *other, const char *kind)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(&err);
    mw_fit_options options = mw_fit_defaults(all, 1);
    options.progress.quiet = true;
    options.data.validation = other;
    mw_trainer_fit(trainer, &options, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"y\" are bee, cow, dog, and those of the first set are ant, bee, cow");
    CHECK_INT(mw_trainer_classes(trainer, "y").count, 0);
    mw_error_clear(&err);
    options.data.validation = NULL;
    options.data.validation_share = strcmp(kind, "prefetch") == 0 ? 0.25 : 0;
    options.data.seed = 1;
    mw_trainer_fit(trainer, &options, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_classes(trainer, "y").count, 3);
    CHECK_STR(mw_trainer_classes(trainer, "y").names[2], "cow");
    mw_trainer_evaluate(trainer, other, NULL, NULL, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "are bee, cow, dog, and those that the trainer learned are ant, bee, cow");
    mw_error_clear(&err);
    mw_dataset *both = mw_dataset_concatenate((const mw_dataset *const[]){all, other}, 2, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"y\" are bee, cow, dog, and those of the first set are ant, bee, cow");
    CHECK(both == NULL);
    mw_trainer_destroy(trainer);
}

static void test_sets_that_are_made_of_others_have_their_classes(void)
{
    mw_error err = {0};
    mw_dataset *all = open_table(ant_bee_cow, 3, false, &err), *other = open_table(bee_cow_dog, 3, true, &err);
    CHECK_OK(err);
    for (int kind = 0; kind < DERIVED; kind++) {
        mw_dataset *a = derive(kind, all, &err), *b = derive(kind, other, &err);
        CHECK_OK(err);
        CHECK_INT(mw_dataset_classes(a, "y").count, 3);
        check_compared(a, other, kinds[kind]);
        check_compared(all, b, kinds[kind]);
        check_compared(a, b, kinds[kind]);
        mw_dataset_destroy(a);
        mw_dataset_destroy(b);
    }
    mw_dataset_destroy(all);
    mw_dataset_destroy(other);
}

/* The names belong to the weights. */
static void test_names_stay_if_no_step_was_made(void)
{
    mw_error err = {0};
    mw_dataset *all = open_table(ant_bee_cow, 3, false, &err), *other = open_table(bee_cow_dog, 3, true, &err);
    mw_trainer *trainer = make_trainer(&err);
    mw_fit_options options = mw_fit_defaults(all, 1);
    options.progress.quiet = true;
    mw_trainer_fit(trainer, &options, &err);
    CHECK_OK(err);
    FILE *broken = fopen("broken.safetensors", "w");
    REQUIRE(broken != NULL);
    fputs("no checkpoint", broken);
    fclose(broken);
    options.data.training = other;
    for (int kind = 0; kind < 2; kind++) {
        options.checkpoint.path = kind == 0 ? "broken.safetensors" : NULL;
        options.metrics.path = kind == 1 ? "t.csv/no.csv" : NULL;
        CHECK(mw_trainer_fit(trainer, &options, &err) != MW_OK);
        CHECK_STR(mw_trainer_classes(trainer, "y").names[0], "ant");
        mw_error_clear(&err);
    }
    options.checkpoint.path = "good.safetensors";
    options.metrics.path = NULL;
    mw_trainer_fit(trainer, &options, &err);
    CHECK_OK(err);
    CHECK_STR(mw_trainer_classes(trainer, "y").names[0], "bee");
    mw_trainer_destroy(trainer);
    trainer = make_trainer(&err);
    mw_trainer_fit(trainer, &options, &err); /* finished before: the weights are those of the checkpoint */
    CHECK_OK(err);
    CHECK_STR(mw_trainer_classes(trainer, "y").names[0], "bee");
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(all);
    mw_dataset_destroy(other);
}

/* ---- several ranks ---- */

typedef struct ranks_case {
    const mw_dataset *sets[3];
    mw_error err[3];
} ranks_case;

static void fit_on_rank(mw_communicator *communicator, int rank, void *user)
{
    ranks_case *c = user;
    mw_error *err = &c->err[rank];
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(2));
    mw_tensor *scores = mw_dense(mw_reshape(x, MW_SHAPE(2, 1)), 3, "fc");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(scores, y), mw_sgd(0.01f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.ranks.communicator = communicator;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_dataset *part = mw_dataset_shard(c->sets[rank], 0, 1, err); /* a file of its own */
    mw_fit_options fit = mw_fit_defaults(part, 1);
    fit.progress.quiet = true;
    mw_trainer_fit(trainer, &fit, err);
    mw_dataset_destroy(part);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void test_ranks_with_other_classes_are_refused(void)
{
    static const float x[6] = {0};
    static const int64_t y[6] = {0};
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .data = x}, {.name = "y", .dtype = MW_I64, .data = y}};
    mw_error err = {0};
    mw_dataset *all = open_table(ant_bee_cow, 3, false, &err), *other = open_table(bee_cow_dog, 3, true, &err),
               *none = mw_dataset_create(columns, 2, 6, true, &err);
    CHECK_OK(err);
    ranks_case cases[] = {{.sets = {all, all, all}},
                          {.sets = {all, none, all}},
                          {.sets = {all, all, other}},
                          {.sets = {none, all, other}}};
    for (int i = 0; i < 4; i++) {
        ranks_run(&(ranks_network){.size = 3}, fit_on_rank, &cases[i]);
        for (int rank = 0; rank < 3; rank++)
            if (i < 2)
                CHECK_OK(cases[i].err[rank]);
            else
                CHECK_ERROR(cases[i].err[rank], MW_ERROR_ARGUMENT, "rank 2 has other names of classes than rank");
    }
    mw_dataset_destroy(all);
    mw_dataset_destroy(other);
    mw_dataset_destroy(none);
}

/* Three scores, whose classes a description names. */
static mw_model *make_model(const char *said, mw_error *err)
{
    const mw_text_pair pairs[] = {{"classes", said}};
    mw_description description = mw_description_defaults();
    mw_model_options options = mw_model_defaults();
    description.pairs = pairs;
    description.pair_count = 1;
    options.description = &description;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    mw_output(mw_dense(mw_reshape(x, MW_SHAPE(2, 1)), 3, "fc"), "scores");
    mw_model *model = mw_model_create(graph, &options, err);
    mw_model_write(model, "three", NULL, err); /* and as it is read back */
    mw_model_destroy(model);
    mw_graph_destroy(graph);
    return mw_model_open("three", NULL, err);
}

static void test_a_report_pairs_classes_by_name_or_refuses(void)
{
    mw_error err = {0};
    mw_dataset *some = open_table(bee_cow, 2, false, &err), *first = open_table(ant_bee, 2, false, &err);
    mw_report_options options = mw_report_defaults();
    options.model = make_model("ant\nbee\ncow", &err);
    options.dataset = first;
    mw_report_write(&options, "page.html", &err);
    CHECK_OK(err);
    options.dataset = some;
    CHECK_INT(mw_report_write(&options, "page.html", &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "column \"y\" are bee, cow, and the model knows ant, bee, cow");
    mw_error_clear(&err);
    options.class_names = bee_cow; /* who says it answers for it */
    options.class_count = 2;
    mw_report_write(&options, "page.html", &err);
    CHECK_OK(err);
    mw_model_destroy(options.model);
    mw_dataset_destroy(some);
    mw_dataset_destroy(first);
}

static void test_a_text_that_is_not_as_long_as_the_scores_is_no_list_of_names(void)
{
    static const char *const texts[] = {"{\"classes\": \"2\"}", "['cat', 'dog']", "a\nb", "a\nb\nc\nd", ""};
    mw_error err = {0};
    mw_dataset *some = open_table(bee_cow, 2, false, &err);
    mw_report_options options = mw_report_defaults();
    options.dataset = some;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        options.model = make_model(texts[i], &err);
        mw_report_write(&options, "page.html", &err);
        CHECK_OK(err);
        mw_error_clear(&err);
        mw_model_destroy(options.model);
    }
    mw_dataset_destroy(some);
}

/* ---- pictures ---- */

static void put_picture(const char *folder, const char *class_name)
{
    char path[300], source[600];
    snprintf(path, sizeof path, "%s/%s", folder, class_name);
    mkdir(folder, 0777);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/1.png", folder, class_name);
    snprintf(source, sizeof source, "%s/data/images/png/rgb.png", MW_TESTS_DIR);
    FILE *in = fopen(source, "rb"), *out = fopen(path, "wb");
    REQUIRE(in != NULL && out != NULL);
    for (int c; (c = fgetc(in)) != EOF;)
        fputc(c, out);
    fclose(in);
    fclose(out);
}

static void test_folders_of_pictures_keep_the_classes_of_another(void)
{
    static const char *const names[] = {"10", "9", "2"};
    mw_error err = {0};
    for (int i = 0; i < 3; i++)
        put_picture("train", names[i]);
    put_picture("test", "10");
    put_picture("test", "9");
    put_picture("other", "11");
    mw_image_options options = mw_image_defaults();
    mw_dataset *train = mw_dataset_open_images("train", &options, &err);
    if (err.status == MW_ERROR_UNSUPPORTED && strstr(err.message, "built without") != NULL)
        SKIP("built without libpng");
    CHECK_OK(err);
    const char *sorted[3];
    REQUIRE(mw_dataset_classes(train, "y").count == 3);
    for (size_t i = 0; i < 3; i++)
        sorted[i] = mw_dataset_classes(train, "y").names[i];
    CHECK_STR(sorted[0], "2");
    CHECK_STR(sorted[1], "9");
    CHECK_STR(sorted[2], "10");
    options.class_names = sorted;
    options.class_count = 3;
    mw_dataset *test = mw_dataset_open_images("test", &options, &err);
    CHECK_OK(err);
    CHECK_INT(mw_dataset_classes(test, "y").count, 3);
    const mw_column *y = mw_dataset_column_at(test, 1);
    REQUIRE(y != NULL && y->data != NULL);
    CHECK_INT(((const int64_t *)y->data)[0], 1); /* "9" */
    CHECK_INT(((const int64_t *)y->data)[1], 2); /* "10" */
    CHECK(mw_dataset_open_images("other", &options, &err) == NULL);
    CHECK_CONTAINS(err.message, "other/11\" is a class that is none of the 3 class_names");
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_integers_are_ordered_by_value_and_words_by_bytes);
    RUN(test_sets_with_other_classes_are_not_put_together);
    RUN(test_a_validation_set_with_other_classes_is_refused);
    RUN(test_a_trainer_knows_the_classes_that_it_learned);
    RUN(test_sets_that_are_made_of_others_have_their_classes);
    RUN(test_names_stay_if_no_step_was_made);
    RUN(test_ranks_with_other_classes_are_refused);
    RUN(test_a_report_pairs_classes_by_name_or_refuses);
    RUN(test_a_text_that_is_not_as_long_as_the_scores_is_no_list_of_names);
    RUN(test_folders_of_pictures_keep_the_classes_of_another);
    folder_leave(folder);
    return check_finish();
}

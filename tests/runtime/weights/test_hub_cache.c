/* Models, weights and adapters as the caches of model hubs keep them: snapshots of links to blobs. */
#include "runtime/files.h"
#include "runtime/weights/tuned.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const low[] = {"conv_weight", "fc1_weight"};

static mw_trainer *make_trainer(const mw_graph *source, mw_graph **out_graph, mw_error *err)
{
    mw_lora_options options = mw_lora_defaults(low, 2);
    options.rank = 2;
    *out_graph = mw_graph_lora(source, &options, err);
    return tuned_trainer(*out_graph, MW_DEVICE_CPU, 0.1f, err);
}

static void make_folder(const char *name) { CHECK(mkdir(scratch(name), 0700) == 0); }

/* Moves a file to the blobs and leaves the link that a downloader makes. */
static void store(const char *from, const char *blob, const char *link, const char *text)
{
    CHECK(rename(scratch(from), scratch(blob)) == 0);
    CHECK(symlink(text, scratch(link)) == 0);
}

static void make_store(void)
{
    make_folder("models--a--b");
    make_folder("models--a--b/blobs");
    make_folder("models--a--b/snapshots");
    make_folder("models--a--b/snapshots/1f2e");
}
#define SNAPSHOT "models--a--b/snapshots/1f2e"

static void test_model_of_a_cache_is_read(void)
{
    mw_error err = {0};
    float plain[TUNED_LOGITS], linked[TUNED_LOGITS];
    mw_graph *graph = tuned_read(MW_F32, "model", &err);
    tuned_run(graph, MW_DEVICE_CPU, plain, &err);
    mw_graph_destroy(graph);
    make_folder(SNAPSHOT "/weights");
    store("model/model.mil", "models--a--b/blobs/t", SNAPSHOT "/model.mil", "../../blobs/t");
    store("model/weights/weight.bin", "models--a--b/blobs/w", SNAPSHOT "/weights/weight.bin", "../../../blobs/w");
    graph = mw_graph_open_mil(scratch(SNAPSHOT "/model.mil"), NULL, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    tuned_run(graph, MW_DEVICE_CPU, linked, &err);
    CHECK_OK(err);
    CHECK(memcmp(plain, linked, sizeof plain) == 0);
    mw_graph_destroy(graph);
    /* the same with a link that leaves the store */
    CHECK(rename(scratch("models--a--b/blobs/w"), scratch("outside")) == 0);
    CHECK(unlink(scratch(SNAPSHOT "/weights/weight.bin")) == 0);
    CHECK(symlink("../../../../outside", scratch(SNAPSHOT "/weights/weight.bin")) == 0);
    CHECK(mw_graph_open_mil(scratch(SNAPSHOT "/model.mil"), NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "leads out of");
}

static void test_adapters_of_a_cache_are_read(void)
{
    mw_error err = {0};
    float a[TUNED_LOGITS], b[TUNED_LOGITS];
    tuned_data data;
    mw_graph *graphs[2], *source = tuned_build(MW_F32, MW_IOS18, NULL, &err);
    tuned_fill(&data);
    mw_trainer *one = make_trainer(source, &graphs[0], &err), *other = make_trainer(source, &graphs[1], &err);
    tuned_steps(one, 10, &err);
    mw_trainer_save_lora(one, scratch("adapter"), &err);
    store("adapter/adapter_config.json", "models--a--b/blobs/c", SNAPSHOT "/adapter_config.json", "../../blobs/c");
    store("adapter/adapter_model.safetensors", "models--a--b/blobs/m", SNAPSHOT "/adapter_model.safetensors",
          "../../blobs/m");
    mw_trainer_load_weights(other, scratch(SNAPSHOT), NULL, &err);
    CHECK_OK(err);
    mw_trainer_predict(one, &data.batch, MW_F32, a, TUNED_LOGITS, &err);
    mw_trainer_predict(other, &data.batch, MW_F32, b, TUNED_LOGITS, &err);
    CHECK_OK(err);
    CHECK(memcmp(a, b, sizeof a) == 0);
    static const char *const files[] = {"adapter_config.json", "adapter_model.safetensors"};
    for (int i = 0; i < 2; i++) { /* the adapter of somebody who points at a file of the user */
        char path[64], target[64];
        snprintf(path, sizeof path, "adapter/%s", files[i]);
        snprintf(target, sizeof target, "../models--a--b/blobs/%c", files[i][8]);
        CHECK(symlink(target, scratch(path)) == 0);
        err = (mw_error){0};
        CHECK(mw_trainer_load_weights(other, scratch("adapter"), NULL, &err) == MW_ERROR_FILE);
        CHECK_ERROR(err, MW_ERROR_FILE, "leads out of this folder");
        CHECK(unlink(scratch(path)) == 0);
        snprintf(target, sizeof target, "models--a--b/blobs/%c", files[i][8]);
        CHECK(link(scratch(target), scratch(path)) == 0);
    }
    err = (mw_error){0};
    CHECK(mw_trainer_load_weights(other, scratch("adapter"), NULL, &err) == MW_OK);
    CHECK_OK(err);
    mw_trainer_destroy(one);
    mw_trainer_destroy(other);
    mw_graph_destroy(graphs[0]);
    mw_graph_destroy(graphs[1]);
    mw_graph_destroy(source);
}

/* One file that the user names: its links are the user's. */
static void test_weights_behind_any_link_are_read(void)
{
    mw_error err = {0};
    mw_graph *graph, *source = tuned_build(MW_F32, MW_IOS18, NULL, &err);
    mw_trainer *trainer = make_trainer(source, &graph, &err);
    mw_trainer_save_weights(trainer, scratch("weights"), &err);
    CHECK(rename(scratch("weights"), scratch("models--a--b/blobs/s")) == 0);
    CHECK(symlink("../../blobs/s", scratch(SNAPSHOT "/model.safetensors")) == 0);
    CHECK(symlink(scratch(SNAPSHOT "/model.safetensors"), scratch("absolute")) == 0);
    CHECK(mw_trainer_load_weights(trainer, scratch(SNAPSHOT "/model.safetensors"), NULL, &err) == MW_OK);
    CHECK(mw_trainer_load_weights(trainer, scratch("absolute"), NULL, &err) == MW_OK);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

int main(void)
{
    make_store();
    RUN(test_model_of_a_cache_is_read);
    RUN(test_adapters_of_a_cache_are_read);
    RUN(test_weights_behind_any_link_are_read);
    return check_finish();
}

/* Of test_null.c: data sets and files of tensors. */
#include "api/refused.h"

#include <millwright/data.h>
#include <millwright/inspect.h>

static void test_data_refuses_null(void)
{
    const mw_loader_options options = mw_loader_defaults(NULL, 1);
    const mw_column bare = {.name = "x", .dtype = MW_F32};
    REFUSED(mw_dataset_open_idx(NULL, "train", &err));
    REFUSED(mw_dataset_open_idx("folder", NULL, &err));
    REFUSED(mw_dataset_create(NULL, 1, 1, true, &err));
    REFUSED(mw_dataset_create(&bare, 1, 1, true, &err));
    REFUSED(mw_dataset_create_callback(&bare, 1, 1, NULL, NULL, &err));
    mw_dataset *part;
    const mw_augment_options nothing = mw_augment_defaults(NULL);
    REFUSED(mw_dataset_shard(NULL, 0, 1, &err));
    REFUSED(mw_dataset_subset(NULL, NULL, 1, &err));
    REFUSED(mw_dataset_sample(NULL, NULL, 1, 0, &err));
    REFUSED(mw_dataset_split(NULL, NULL, 1, 0, &part, &err));
    REFUSED(mw_dataset_split(NULL, NULL, 1, 0, NULL, &err));
    REFUSED(mw_dataset_concatenate(NULL, 1, &err));
    REFUSED(mw_dataset_zip(NULL, 1, &err));
    mw_dataset *halves[2];
    REFUSED(mw_dataset_divide(NULL, NULL, NULL, &err));
    REFUSED(mw_dataset_divide(NULL, NULL, halves, &err));
    CHECK(mw_divide_defaults(0.5).label == NULL);
    REFUSED(mw_dataset_map(NULL, NULL, 0, NULL, NULL, 0, &err));
    REFUSED(mw_dataset_prefetch(NULL, 1, &err));
    REFUSED(mw_dataset_bucket(NULL, NULL, NULL, 0, &err));
    REFUSED(mw_dataset_prefetch_threads(NULL, 1, 1, &err));
    REFUSED(mw_dataset_augment(NULL, &nothing, &err));
    REFUSED(mw_dataset_window(NULL, &(mw_window_options){0}, &err));
    REFUSED(mw_dataset_mix(NULL, NULL, &err));
    REFUSED(mw_dataset_normalize(NULL, NULL, &err));
    CHECK(mw_mix_defaults(NULL, NULL, 2).column == mw_normalize_defaults(NULL, NULL, NULL, 0).column);
    CHECK(mw_map_example_uniform(NULL, 0) < 1.0f);
    const mw_table_options empty = mw_table_defaults(NULL, 0);
    REFUSED(mw_dataset_open_csv(NULL, &empty, &err));
    REFUSED(mw_dataset_open_csv("table.csv", NULL, &err));
    REFUSED(mw_dataset_open_csv("table.csv", &empty, &err));
    REFUSED(mw_dataset_open_tensors(NULL, NULL, 0, &err));
    REFUSED(mw_dataset_open_tensors("x.npz", NULL, 1, &err));
    REFUSED(mw_dataset_open_jsonl(NULL, &empty, &err));
    REFUSED(mw_dataset_open_jsonl("table.jsonl", NULL, &err));
    REFUSED(mw_dataset_open_jsonl("table.jsonl", &empty, &err));
    const mw_image_options pictures = mw_image_defaults();
    REFUSED(mw_dataset_open_images(NULL, &pictures, &err));
    REFUSED(mw_dataset_open_images("folder", NULL, &err));
    REFUSED(mw_dataset_open_image_files(NULL, 1, &pictures, &err));
    const mw_sound_options sounds = mw_sound_defaults();
    REFUSED(mw_dataset_open_sound_files(NULL, 1, &sounds, &err));
    const mw_sound_change_options still = mw_sound_change_defaults(NULL);
    REFUSED(mw_dataset_open_sounds(NULL, &sounds, &err));
    REFUSED(mw_dataset_open_sounds("folder", NULL, &err));
    REFUSED(mw_dataset_change_sounds(NULL, &still, &err));
    YIELDS_NULL(mw_log_mel(NULL, NULL));
    CHECK_INT(mw_log_mel_defaults(0).rate, 0);
    CHECK_INT(mw_dataset_classes(NULL, "y").count, 0);
    YIELDS_NULL(mw_dataset_classes(NULL, NULL).names);
    CHECK_INT(mw_trainer_classes(NULL, NULL).count, 0);
    YIELDS_NULL(mw_trainer_classes(NULL, NULL).names);
    REFUSED(mw_loader_create(NULL, &err));
    REFUSED(mw_loader_create(&options, &err));
    REFUSED(mw_loader_next(NULL, &err));
    REFUSED(mw_loader_seek(NULL, (mw_loader_position){0}, &err));
    REFUSED(mw_tensors_open(NULL, &err));
    REFUSED(mw_tensors_read(NULL, "x", MW_F32, NULL, 0, &err));
    REFUSED(mw_tensors_constant(NULL, "x", MW_F32, NULL, &err));
    REFUSED(mw_tensors_write(NULL, NULL, 0, &err));
    REFUSED(mw_tensors_write("x.npz", NULL, 1, &err));
    REFUSED(mw_tensors_convert(NULL, "x.npz", MW_F32, &err));
    REFUSED(mw_tensors_read_array(NULL, "x", NULL, &err));
    REFUSED(mw_gguf_write(NULL, NULL, &err));
    REFUSED(mw_gguf_write("x.gguf", &(mw_gguf_file){.tensor_count = 1}, &err));
    REFUSED(mw_onnx_check(NULL, &err));
    YIELDS_NULL(mw_tensors_left_out_at(NULL, 0));
    REFUSED(mw_tensors_average(NULL, 1, "x.npz", &err));
    REFUSED(mw_tensors_average((const char *const[]){NULL}, 1, "x.npz", &err));
    CHECK(!mw_operation_at(0, NULL) && !mw_operation_argument_at(0, 0, NULL));
}

int main(void)
{
    mw_log_set(keep_line, NULL);
    RUN(test_data_refuses_null);
    return check_finish();
}

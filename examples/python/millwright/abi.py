"""What ctypes needs to know of the public headers: constants, enums, structs, callbacks, prototypes.

Written by tools/python_abi.py from include/millwright; not to be edited. Structs and functions have their names in C.
Handles are pointers to structs without fields, so that a tensor is not taken for a graph. FUNCTIONS has for each
function what it returns and its parameters by name."""
from ctypes import (  # noqa: F401
    CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t,
    c_ubyte, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p,
)
from enum import IntEnum


def _struct(name):
    return type(name, (Structure,), {"__module__": __name__})


MW_RANKS_MAX = 4096
MW_MESSAGE_MAX = 67108864
MW_CONFUSION_CLASSES_MAX = 32768
MW_NAME_MAX = 1000
MW_IGNORE_NOTHING = -2147483648
MW_TRANSPOSE_NONE = 0
MW_TRANSPOSE_X = 1
MW_TRANSPOSE_Y = 2
MW_UPDATE_STATES_MAX = 8
MW_UPDATE_SCALARS_MAX = 8
MW_VARIANTS_MAX = 32
MW_METRICS_MAX = 16
MW_SEGMENTS_AUTO = -1
MW_RANK_MAX = 8
MW_DIM_UNKNOWN = -1


class mw_device(IntEnum):
    MW_DEVICE_AUTO = 0
    MW_DEVICE_CPU = 1
    MW_DEVICE_GPU = 2
    MW_DEVICE_ANE = 4


class mw_chip(IntEnum):
    MW_CHIP_AUTO = 0
    MW_CHIP_H11 = 11
    MW_CHIP_H12 = 12
    MW_CHIP_H13 = 13
    MW_CHIP_H14 = 14
    MW_CHIP_H15 = 15
    MW_CHIP_H16 = 16
    MW_CHIP_H17 = 17
    MW_CHIP_H18 = 18
    MW_CHIP_H18G = 19
    MW_CHIP_H19 = 20


class mw_provider(IntEnum):
    MW_PROVIDER_AUTO = 0
    MW_PROVIDER_ENGINE = 1
    MW_PROVIDER_ESPRESSO = 2


class mw_image_fit(IntEnum):
    MW_IMAGE_FIT_NONE = 0
    MW_IMAGE_FIT_STRETCH = 1
    MW_IMAGE_FIT_CROP = 2
    MW_IMAGE_FIT_PAD = 3
    MW_IMAGE_FIT_RANDOM_CROP = 4


class mw_broken(IntEnum):
    MW_BROKEN_REFUSE = 0
    MW_BROKEN_SKIP = 1
    MW_BROKEN_LATE = 2


class mw_sound_place(IntEnum):
    MW_SOUND_BEGIN = 0
    MW_SOUND_MIDDLE = 1
    MW_SOUND_RANDOM = 2


class mw_feature_kind(IntEnum):
    MW_FEATURE_TENSOR = 1
    MW_FEATURE_IMAGE = 2
    MW_FEATURE_INTEGER = 3
    MW_FEATURE_NUMBER = 4
    MW_FEATURE_STRING = 5
    MW_FEATURE_DICTIONARY = 6
    MW_FEATURE_SEQUENCE = 7


class mw_image_layout(IntEnum):
    MW_IMAGE_NONE = 0
    MW_IMAGE_GRAY = 1
    MW_IMAGE_RGB = 2
    MW_IMAGE_BGR = 3
    MW_IMAGE_GRAY_F16 = 4


class mw_fit_end(IntEnum):
    MW_FIT_FINISHED = 0
    MW_FIT_EARLY = 1
    MW_FIT_STOPPED = 2
    MW_FIT_FAILED = 3


class mw_admission(IntEnum):
    MW_ADMITS_ONE = 0
    MW_ADMITS_RANGES = 1
    MW_ADMITS_LISTED = 2
    MW_ADMITS_ANY = 3


class mw_opset(IntEnum):
    MW_IOS15 = 15
    MW_IOS16 = 16
    MW_IOS17 = 17
    MW_IOS18 = 18
    MW_IOS26 = 26


class mw_mel_scale(IntEnum):
    MW_MEL_HTK = 0
    MW_MEL_SLANEY = 1


class mw_metrics_format(IntEnum):
    MW_METRICS_BY_PATH = 0
    MW_METRICS_JSONL = 1
    MW_METRICS_CSV = 2
    MW_METRICS_EVENTS = 3


class mw_gelu_mode(IntEnum):
    MW_GELU_EXACT = 0
    MW_GELU_TANH = 1
    MW_GELU_SIGMOID = 2


class mw_scatter_mode(IntEnum):
    MW_SCATTER_UPDATE = 0
    MW_SCATTER_ADD = 1
    MW_SCATTER_SUB = 2
    MW_SCATTER_MUL = 3
    MW_SCATTER_DIV = 4
    MW_SCATTER_MAX = 5
    MW_SCATTER_MIN = 6


class mw_sampling_mode(IntEnum):
    MW_SAMPLING_DEFAULT = 0
    MW_SAMPLING_STRICT_ALIGN_CORNERS = 1
    MW_SAMPLING_ALIGN_CORNERS = 2
    MW_SAMPLING_UNALIGN_CORNERS = 3
    MW_SAMPLING_OFFSET_CORNERS = 4


class mw_interpolation_mode(IntEnum):
    MW_INTERPOLATION_LINEAR = 0
    MW_INTERPOLATION_NEAREST = 1


class mw_operation_gradient(IntEnum):
    MW_GRADIENT_NONE = 0
    MW_GRADIENT_ZERO = 1
    MW_GRADIENT_RULE = 2


class mw_categorical_mode(IntEnum):
    MW_CATEGORICAL_LOGITS = 0
    MW_CATEGORICAL_PROBS = 1


class mw_direction(IntEnum):
    MW_FORWARD = 1
    MW_REVERSE = 2
    MW_BIDIRECTIONAL = 3


class mw_activation(IntEnum):
    MW_ACTIVATION_TANH = 1
    MW_ACTIVATION_SIGMOID = 2
    MW_ACTIVATION_HARD_SIGMOID = 3
    MW_ACTIVATION_RELU = 4
    MW_ACTIVATION_LINEAR = 5
    MW_ACTIVATION_SCALED_TANH = 6


class mw_border(IntEnum):
    MW_BORDER_CONSTANT = 0
    MW_BORDER_NEAREST = 1
    MW_BORDER_REFLECT = 2
    MW_BORDER_SYMMETRIC = 3


class mw_coordinates(IntEnum):
    MW_COORDINATES_MINUS_ONE_TO_ONE = 0
    MW_COORDINATES_ZERO_TO_ONE = 1
    MW_COORDINATES_PIXELS = 2


class mw_box(IntEnum):
    MW_BOX_CORNERS_HEIGHT_FIRST = 0
    MW_BOX_CORNERS_WIDTH_FIRST = 1
    MW_BOX_CENTER_SIZE_HEIGHT_FIRST = 2
    MW_BOX_CENTER_SIZE_WIDTH_FIRST = 3


class mw_pad_mode(IntEnum):
    MW_PAD_CONSTANT = 0
    MW_PAD_REFLECT = 1
    MW_PAD_REPLICATE = 2


class mw_optimizer_number(IntEnum):
    MW_OPTIMIZER_LEARNING_RATE = 0
    MW_OPTIMIZER_BETA1 = 1
    MW_OPTIMIZER_BETA2 = 2
    MW_OPTIMIZER_ALPHA = 3
    MW_OPTIMIZER_CENTERED = 4
    MW_OPTIMIZER_MOMENTUM = 5
    MW_OPTIMIZER_NESTEROV = 6
    MW_OPTIMIZER_LR_DECAY = 7
    MW_OPTIMIZER_INITIAL_ACCUMULATOR = 8
    MW_OPTIMIZER_EPSILON = 9
    MW_OPTIMIZER_WEIGHT_DECAY = 10
    MW_OPTIMIZER_DECOUPLED = 11
    MW_OPTIMIZER_COMPENSATED = 12
    MW_OPTIMIZER_MATCH_RMS = 13


class mw_schedule_kind(IntEnum):
    MW_SCHEDULE_CONSTANT = 0
    MW_SCHEDULE_STEP = 1
    MW_SCHEDULE_COSINE = 2
    MW_SCHEDULE_LINEAR = 3
    MW_SCHEDULE_ONE_CYCLE = 4
    MW_SCHEDULE_CUSTOM = 5


class mw_score_task(IntEnum):
    MW_SCORE_CLASSES = 0
    MW_SCORE_LABELS = 1
    MW_SCORE_VALUES = 2
    MW_SCORE_TEXTS = 3


class mw_status(IntEnum):
    MW_OK = 0
    MW_ERROR_ARGUMENT = 1
    MW_ERROR_SHAPE = 2
    MW_ERROR_DTYPE = 3
    MW_ERROR_MEMORY = 4
    MW_ERROR_FILE = 5
    MW_ERROR_FORMAT = 6
    MW_ERROR_UNSUPPORTED = 7
    MW_ERROR_NUMERIC = 8
    MW_ERROR_STATE = 9
    MW_ERROR_DEVICE = 10
    MW_ERROR_STOPPED = 11
    MW_ERROR_COMMUNICATION = 12


class mw_log_level(IntEnum):
    MW_LOG_ERROR = 0
    MW_LOG_WARNING = 1
    MW_LOG_INFO = 2
    MW_LOG_DEBUG = 3


class mw_field_kind(IntEnum):
    MW_FIELD_FOUND = 0
    MW_FIELD_NUMBER = 1
    MW_FIELD_CATEGORY = 2
    MW_FIELD_ID = 3
    MW_FIELD_DATE = 4
    MW_FIELD_BOOLEAN = 5
    MW_FIELD_TEXT = 6
    MW_FIELD_SEQUENCE = 7
    MW_FIELD_IGNORED = 8


class mw_missing_rule(IntEnum):
    MW_MISSING_MEAN = 0
    MW_MISSING_MEDIAN = 1
    MW_MISSING_CONSTANT = 2


class mw_sequence_elements(IntEnum):
    MW_SEQUENCE_FOUND = 0
    MW_SEQUENCE_WORDS = 1
    MW_SEQUENCE_VALUES = 2


class mw_target_kind(IntEnum):
    MW_TARGET_FOUND = 0
    MW_TARGET_CLASS = 1
    MW_TARGET_VALUE = 2
    MW_TARGET_LABELS = 3


class mw_target_scale(IntEnum):
    MW_TARGET_STANDARD = 0
    MW_TARGET_LOGARITHM = 1
    MW_TARGET_AS_IT_IS = 2


class mw_split_rule(IntEnum):
    MW_SPLIT_RANDOM = 0
    MW_SPLIT_STRATIFIED = 1
    MW_SPLIT_GROUP = 2
    MW_SPLIT_TIME = 3
    MW_SPLIT_LAST = 4


class mw_text_encoding(IntEnum):
    MW_ENCODING_FOUND = 0
    MW_ENCODING_UTF8 = 1
    MW_ENCODING_UTF16_LE = 2
    MW_ENCODING_UTF16_BE = 3
    MW_ENCODING_LATIN1 = 4


class mw_pooling(IntEnum):
    MW_POOLING_OF_FOLDER = 0
    MW_POOLING_MEAN = 1
    MW_POOLING_CLS = 2


class mw_parameter_group_number(IntEnum):
    MW_GROUP_RATE_FACTOR = 0
    MW_GROUP_WEIGHT_DECAY = 1
    MW_GROUP_FROZEN = 2
    MW_GROUP_MOVING_STATISTICS = 3
    MW_GROUP_ADAMW = 4


class mw_wire(IntEnum):
    MW_WIRE_AS_THEY_ARE = 0
    MW_WIRE_BF16 = 1
    MW_WIRE_FP16 = 2


class mw_weight_role(IntEnum):
    MW_WEIGHT_NONE = 0
    MW_WEIGHT_KERNEL = 1
    MW_WEIGHT_BIAS = 2
    MW_WEIGHT_NORM = 3
    MW_WEIGHT_TABLE = 4
    MW_WEIGHT_SLOPE = 5
    MW_WEIGHT_STATISTIC = 6
    MW_WEIGHT_PARAMETER = 7
    MW_WEIGHT_SCALE = 8


class mw_tune_outcome(IntEnum):
    MW_TUNE_TRAINED = 0
    MW_TUNE_ADAPTED = 1
    MW_TUNE_LEFT = 2


class mw_dtype(IntEnum):
    MW_DTYPE_NONE = 0
    MW_F16 = 1
    MW_F32 = 2
    MW_F64 = 3
    MW_BF16 = 4
    MW_I4 = 5
    MW_I8 = 6
    MW_I16 = 7
    MW_I32 = 8
    MW_I64 = 9
    MW_U1 = 10
    MW_U2 = 11
    MW_U3 = 12
    MW_U4 = 13
    MW_U6 = 14
    MW_U8 = 15
    MW_U16 = 16
    MW_U32 = 17
    MW_U64 = 18
    MW_F8E4M3FN = 19
    MW_F8E5M2 = 20
    MW_BOOL = 21
    MW_STRING = 22
    MW_DTYPE_COUNT = 23


class mw_pad_type(IntEnum):
    MW_PAD_VALID = 1
    MW_PAD_CUSTOM = 2
    MW_PAD_SAME = 3
    MW_PAD_SAME_LOWER = 4


class mw_watch_of(IntEnum):
    MW_WATCH_TENSOR = 0
    MW_WATCH_GRADIENT = 1
    MW_WATCH_PARAMETER = 2
    MW_WATCH_UPDATE = 3


class mw_watch_kind(IntEnum):
    MW_WATCH_STATISTICS = 0
    MW_WATCH_VALUES = 1
    MW_WATCH_NORM = 2


class mw_weights_outcome(IntEnum):
    MW_WEIGHTS_TAKEN = 0
    MW_WEIGHTS_MISSING = 1
    MW_WEIGHTS_SHAPE = 2
    MW_WEIGHTS_UNUSED = 3


class mw_weight_form(IntEnum):
    MW_WEIGHTS_F16 = 1
    MW_WEIGHTS_I8 = 2
    MW_WEIGHTS_PALETTE = 3


# Known by name alone.
mw_communicator = _struct("mw_communicator")
mw_compare_options = _struct("mw_compare_options")
mw_coreml = _struct("mw_coreml")
mw_dataset = _struct("mw_dataset")
mw_graph = _struct("mw_graph")
mw_layer = _struct("mw_layer")
mw_loader = _struct("mw_loader")
mw_metrics = _struct("mw_metrics")
mw_model = _struct("mw_model")
mw_predictor = _struct("mw_predictor")
mw_program = _struct("mw_program")
mw_scores = _struct("mw_scores")
mw_table_encoder = _struct("mw_table_encoder")
mw_tensor = _struct("mw_tensor")
mw_tensors = _struct("mw_tensors")
mw_text_data = _struct("mw_text_data")
mw_text_model = _struct("mw_text_model")
mw_token_stream = _struct("mw_token_stream")
mw_tokenizer = _struct("mw_tokenizer")
mw_trainer = _struct("mw_trainer")

# Structs, whose fields follow when all are known.
mw_app_image = _struct("mw_app_image")
mw_app_options = _struct("mw_app_options")
mw_pullback = _struct("mw_pullback")
mw_custom_vjp_call = _struct("mw_custom_vjp_call")
mw_transport = _struct("mw_transport")
mw_communicator_info = _struct("mw_communicator_info")
mw_share = _struct("mw_share")
mw_compile_options = _struct("mw_compile_options")
mw_coreml_info = _struct("mw_coreml_info")
mw_column = _struct("mw_column")
mw_feed = _struct("mw_feed")
mw_batch = _struct("mw_batch")
mw_loader_options = _struct("mw_loader_options")
mw_loader_position = _struct("mw_loader_position")
mw_divide_options = _struct("mw_divide_options")
mw_zip_part = _struct("mw_zip_part")
mw_map_example = _struct("mw_map_example")
mw_color_jitter = _struct("mw_color_jitter")
mw_random_erase = _struct("mw_random_erase")
mw_augment_options = _struct("mw_augment_options")
mw_mix_options = _struct("mw_mix_options")
mw_normalize_options = _struct("mw_normalize_options")
mw_window_options = _struct("mw_window_options")
mw_table_column = _struct("mw_table_column")
mw_table_options = _struct("mw_table_options")
mw_tensor_column = _struct("mw_tensor_column")
mw_image_random_crop = _struct("mw_image_random_crop")
mw_image_options = _struct("mw_image_options")
mw_label_table = _struct("mw_label_table")
mw_sound_options = _struct("mw_sound_options")
mw_sound_change_options = _struct("mw_sound_change_options")
mw_feature = _struct("mw_feature")
mw_function_description = _struct("mw_function_description")
mw_text_pair = _struct("mw_text_pair")
mw_description = _struct("mw_description")
mw_confusion = _struct("mw_confusion")
mw_measure = _struct("mw_measure")
mw_evaluation = _struct("mw_evaluation")
mw_class_figures = _struct("mw_class_figures")
mw_confusion_figures = _struct("mw_confusion_figures")
mw_progress = _struct("mw_progress")
mw_fit_summary = _struct("mw_fit_summary")
mw_fit_data = _struct("mw_fit_data")
mw_fit_schedule = _struct("mw_fit_schedule")
mw_fit_checkpoint = _struct("mw_fit_checkpoint")
mw_fit_stopping = _struct("mw_fit_stopping")
mw_fit_metrics = _struct("mw_fit_metrics")
mw_fit_progress = _struct("mw_fit_progress")
mw_fit_options = _struct("mw_fit_options")
mw_admitted_shapes = _struct("mw_admitted_shapes")
mw_gguf_value = _struct("mw_gguf_value")
mw_gguf_tensor = _struct("mw_gguf_tensor")
mw_gguf_file = _struct("mw_gguf_file")
mw_graph_options = _struct("mw_graph_options")
mw_init = _struct("mw_init")
mw_argument = _struct("mw_argument")
mw_input_shape = _struct("mw_input_shape")
mw_log_mel_options = _struct("mw_log_mel_options")
mw_cross_entropy_options = _struct("mw_cross_entropy_options")
mw_metrics_options = _struct("mw_metrics_options")
mw_metrics_field = _struct("mw_metrics_field")
mw_model_weights = _struct("mw_model_weights")
mw_model_options = _struct("mw_model_options")
mw_model_info = _struct("mw_model_info")
mw_result = _struct("mw_result")
mw_onnx_extent = _struct("mw_onnx_extent")
mw_onnx_constant = _struct("mw_onnx_constant")
mw_onnx_options = _struct("mw_onnx_options")
mw_conv_options = _struct("mw_conv_options")
mw_operation = _struct("mw_operation")
mw_operation_argument = _struct("mw_operation_argument")
mw_pool_options = _struct("mw_pool_options")
mw_recurrent_weights = _struct("mw_recurrent_weights")
mw_recurrent_options = _struct("mw_recurrent_options")
mw_recurrent = _struct("mw_recurrent")
mw_recurrent_layer_options = _struct("mw_recurrent_layer_options")
mw_resample_options = _struct("mw_resample_options")
mw_crop_resize_options = _struct("mw_crop_resize_options")
mw_slice = _struct("mw_slice")
mw_non_maximum_suppression_options = _struct("mw_non_maximum_suppression_options")
mw_optimizer = _struct("mw_optimizer")
mw_optimizer_number_info = _struct("mw_optimizer_number_info")
mw_update_parameter = _struct("mw_update_parameter")
mw_update_state = _struct("mw_update_state")
mw_update_moment = _struct("mw_update_moment")
mw_update_scalar = _struct("mw_update_scalar")
mw_update_call = _struct("mw_update_call")
mw_optimizer_rule = _struct("mw_optimizer_rule")
mw_pass_rule = _struct("mw_pass_rule")
mw_pass_note = _struct("mw_pass_note")
mw_pass = _struct("mw_pass")
mw_passes = _struct("mw_passes")
mw_weight_values = _struct("mw_weight_values")
mw_port = _struct("mw_port")
mw_label = _struct("mw_label")
mw_warning = _struct("mw_warning")
mw_program_info = _struct("mw_program_info")
mw_placement = _struct("mw_placement")
mw_schedule = _struct("mw_schedule")
mw_score_batch = _struct("mw_score_batch")
mw_score = _struct("mw_score")
mw_error = _struct("mw_error")
mw_allocator = _struct("mw_allocator")
mw_thread_hooks = _struct("mw_thread_hooks")
mw_encoded_field = _struct("mw_encoded_field")
mw_encoded_target = _struct("mw_encoded_target")
mw_field_setting = _struct("mw_field_setting")
mw_table_window = _struct("mw_table_window")
mw_table_form = _struct("mw_table_form")
mw_table_fit_options = _struct("mw_table_fit_options")
mw_table_rows = _struct("mw_table_rows")
mw_table_stream_options = _struct("mw_table_stream_options")
mw_tensor_info = _struct("mw_tensor_info")
mw_tensors_note = _struct("mw_tensors_note")
mw_tensors_info = _struct("mw_tensors_info")
mw_tensors_array = _struct("mw_tensors_array")
mw_tensor_values = _struct("mw_tensor_values")
mw_text_data_options = _struct("mw_text_data_options")
mw_text_data_info = _struct("mw_text_data_info")
mw_text_config = _struct("mw_text_config")
mw_text_tuning = _struct("mw_text_tuning")
mw_text_graph_options = _struct("mw_text_graph_options")
mw_text_model_options = _struct("mw_text_model_options")
mw_generate_options = _struct("mw_generate_options")
mw_embed_options = _struct("mw_embed_options")
mw_text_save_options = _struct("mw_text_save_options")
mw_tokenizer_info = _struct("mw_tokenizer_info")
mw_tokens = _struct("mw_tokens")
mw_encode_options = _struct("mw_encode_options")
mw_tokenizer_train_options = _struct("mw_tokenizer_train_options")
mw_trainer_recomputation = _struct("mw_trainer_recomputation")
mw_trainer_parts = _struct("mw_trainer_parts")
mw_trainer_counters = _struct("mw_trainer_counters")
mw_trainer_info = _struct("mw_trainer_info")
mw_parameter_group = _struct("mw_parameter_group")
mw_metric = _struct("mw_metric")
mw_trainer_precision = _struct("mw_trainer_precision")
mw_trainer_clipping = _struct("mw_trainer_clipping")
mw_trainer_memory = _struct("mw_trainer_memory")
mw_trainer_ranks = _struct("mw_trainer_ranks")
mw_trainer_watch = _struct("mw_trainer_watch")
mw_trainer_options = _struct("mw_trainer_options")
mw_rate_factor = _struct("mw_rate_factor")
mw_rate_choice = _struct("mw_rate_choice")
mw_trainer_rates = _struct("mw_trainer_rates")
mw_weight = _struct("mw_weight")
mw_tune_choice = _struct("mw_tune_choice")
mw_tune_options = _struct("mw_tune_options")
mw_lora_options = _struct("mw_lora_options")
mw_shape = _struct("mw_shape")
mw_axes = _struct("mw_axes")
mw_classes = _struct("mw_classes")
mw_watch = _struct("mw_watch")
mw_watched = _struct("mw_watched")
mw_weights_prefix = _struct("mw_weights_prefix")
mw_weights_choice = _struct("mw_weights_choice")
mw_weights_options = _struct("mw_weights_options")
mw_compress_choice = _struct("mw_compress_choice")
mw_compress_options = _struct("mw_compress_options")
mw_format_problem = _struct("mw_format_problem")
mw_write_options = _struct("mw_write_options")

# Functions of Python that the library calls. A pointer that they return is a number.
mw_custom_vjp_rule = CFUNCTYPE(c_int, POINTER(mw_custom_vjp_call), POINTER(POINTER(mw_tensor)), POINTER(mw_error))
mw_vmap_function = CFUNCTYPE(c_int, c_void_p, POINTER(mw_graph), POINTER(POINTER(mw_tensor)), POINTER(POINTER(mw_tensor)), POINTER(mw_error))
mw_dataset_function = CFUNCTYPE(c_int, c_void_p, c_int64, c_size_t, c_void_p, POINTER(mw_error))
mw_map_function = CFUNCTYPE(c_int, c_void_p, POINTER(mw_map_example), POINTER(mw_error))
mw_broken_function = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)
mw_progress_function = CFUNCTYPE(c_bool, c_void_p, POINTER(mw_progress))
mw_gguf_source = CFUNCTYPE(c_void_p, c_void_p, c_size_t, POINTER(mw_error))
mw_loop_condition = CFUNCTYPE(c_void_p, c_void_p, POINTER(POINTER(mw_tensor)), c_size_t)
mw_loop_body = CFUNCTYPE(None, c_void_p, POINTER(POINTER(mw_tensor)), c_size_t, POINTER(POINTER(mw_tensor)))
mw_branch = CFUNCTYPE(None, c_void_p, POINTER(POINTER(mw_tensor)), c_size_t)
mw_layer_function = CFUNCTYPE(c_void_p, c_void_p, POINTER(mw_graph), c_char_p, POINTER(POINTER(mw_tensor)), c_size_t)
mw_update_states_function = CFUNCTYPE(c_int, c_void_p, POINTER(mw_update_parameter), POINTER(mw_update_state), POINTER(c_size_t), POINTER(mw_error))
mw_update_number = CFUNCTYPE(c_double, c_void_p, POINTER(mw_update_moment))
mw_update_function = CFUNCTYPE(c_int, POINTER(mw_update_call), POINTER(POINTER(mw_tensor)), POINTER(POINTER(mw_tensor)), POINTER(mw_error))
mw_schedule_function = CFUNCTYPE(c_double, c_void_p, c_int64, c_int64)
mw_log_function = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
mw_thread_run = CFUNCTYPE(c_void_p, c_void_p)
mw_table_rows_function = CFUNCTYPE(c_int, c_void_p, POINTER(mw_table_rows), POINTER(mw_error))
mw_rate_report = CFUNCTYPE(None, c_void_p, POINTER(mw_rate_choice))
mw_tune_report = CFUNCTYPE(None, c_void_p, POINTER(mw_tune_choice))
mw_weights_name = CFUNCTYPE(c_void_p, c_void_p, c_char_p)
mw_weights_report = CFUNCTYPE(None, c_void_p, POINTER(mw_weights_choice))
mw_compress_report = CFUNCTYPE(None, c_void_p, POINTER(mw_compress_choice))
mw_parameter_source = CFUNCTYPE(c_void_p, c_void_p, c_char_p)
mw_format_report = CFUNCTYPE(None, c_void_p, POINTER(mw_format_problem))

mw_app_image._fields_ = [
    ("input", c_char_p), ("name", c_char_p), ("layout", c_int), ("height", c_int64), ("width", c_int64),
    ("channels_last", c_bool), ("scale", c_float * 3), ("bias", c_float * 3),
]
mw_classes._fields_ = [("count", c_size_t), ("names", POINTER(c_char_p)), ("numbers", POINTER(c_int64))]
mw_app_options._fields_ = [
    ("struct_size", c_size_t), ("image", mw_app_image), ("scores", c_char_p), ("classes", mw_classes),
    ("is_probabilities", c_bool), ("label", c_char_p), ("probabilities", c_char_p),
]
mw_pullback._fields_ = [
    ("roots", POINTER(POINTER(mw_tensor))), ("seeds", POINTER(POINTER(mw_tensor))), ("root_count", c_size_t),
    ("stops", POINTER(POINTER(mw_tensor))), ("stop_count", c_size_t),
]
mw_custom_vjp_call._fields_ = [
    ("user", c_void_p), ("graph", POINTER(mw_graph)), ("inputs", POINTER(POINTER(mw_tensor))),
    ("wants", POINTER(c_bool)), ("count", c_size_t), ("y", POINTER(mw_tensor)), ("dy", POINTER(mw_tensor)),
]
mw_transport._fields_ = [
    ("struct_size", c_size_t), ("name", c_char_p), ("rank", c_int), ("size", c_int), ("user", c_void_p),
    ("send", CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_void_p, c_size_t, POINTER(c_void_p), POINTER(mw_error))),
    ("receive", CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_void_p, c_size_t, POINTER(c_void_p), POINTER(mw_error))),
    ("test", CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(c_bool), POINTER(c_size_t), POINTER(mw_error))),
    ("cancel", CFUNCTYPE(None, c_void_p, c_void_p)), ("abort", CFUNCTYPE(None, c_void_p, c_int)),
    ("finish", CFUNCTYPE(None, c_void_p, c_bool)),
]
mw_communicator_info._fields_ = [
    ("rank", c_int), ("size", c_int), ("bytes_sent", c_uint64), ("bytes_received", c_uint64),
    ("messages_sent", c_uint64), ("seconds_waited", c_double),
]
mw_share._fields_ = [("trainer", POINTER(mw_trainer)), ("program", POINTER(mw_program))]
mw_passes._fields_ = [
    ("off", c_char_p), ("report", CFUNCTYPE(None, c_void_p, POINTER(mw_pass))), ("report_user", c_void_p),
    ("why", c_char_p), ("texts", c_bool),
]
mw_compile_options._fields_ = [
    ("struct_size", c_size_t), ("device", c_int), ("provider", c_int), ("threads", c_int), ("seed", c_uint64),
    ("allocator", POINTER(mw_allocator)), ("keep_folder", c_char_p), ("chip", c_int), ("strict", c_bool),
    ("function", c_char_p), ("profile", c_char_p), ("max_plans", c_int), ("share", mw_share),
    ("flush_subnormals", c_bool), ("passes", mw_passes), ("cache_folder", c_char_p),
    ("exact_convolution", c_bool),
]
mw_coreml_info._fields_ = [
    ("description", POINTER(mw_description)), ("specification", c_int), ("kind", c_char_p), ("name", c_char_p),
    ("part_count", c_size_t),
]
mw_shape._fields_ = [("rank", c_int), ("dim", c_int64 * 8)]
mw_column._fields_ = [
    ("name", c_char_p), ("dtype", c_int), ("shape", mw_shape), ("scale", c_float), ("offset", c_float),
    ("data", c_void_p),
]
mw_feed._fields_ = [
    ("name", c_char_p), ("dtype", c_int), ("data", c_void_p), ("count", c_size_t), ("scale", c_float),
    ("offset", c_float),
]
mw_batch._fields_ = [
    ("feeds", POINTER(mw_feed)), ("feed_count", c_size_t), ("examples", c_int64), ("ids", POINTER(c_int64)),
]
mw_loader_options._fields_ = [
    ("struct_size", c_size_t), ("dataset", POINTER(mw_dataset)), ("batch", c_int64), ("shuffle", c_bool),
    ("drop_last", c_bool), ("seed", c_uint64), ("rank", c_int64), ("ranks", c_int64),
    ("allocator", POINTER(mw_allocator)),
]
mw_loader_position._fields_ = [("epoch", c_int64), ("batch", c_int64)]
mw_divide_options._fields_ = [
    ("struct_size", c_size_t), ("share", c_double), ("label", c_char_p), ("groups", POINTER(c_int64)),
    ("seed", c_uint64),
]
mw_zip_part._fields_ = [
    ("source", POINTER(mw_dataset)), ("columns", POINTER(c_char_p)), ("names", POINTER(c_char_p)),
    ("count", c_size_t),
]
mw_map_example._fields_ = [
    ("epoch", c_int64), ("example", c_int64), ("seed", c_uint64), ("in", POINTER(c_void_p)),
    ("out", POINTER(c_void_p)),
]
mw_color_jitter._fields_ = [
    ("brightness", c_float), ("contrast", c_float), ("saturation", c_float), ("hue", c_float),
]
mw_random_erase._fields_ = [
    ("probability", c_float), ("scale_least", c_float), ("scale_most", c_float), ("ratio_least", c_float),
    ("ratio_most", c_float), ("value", c_float),
]
mw_augment_options._fields_ = [
    ("struct_size", c_size_t), ("column", c_char_p), ("channels_first", c_bool), ("pad", c_int),
    ("crop_height", c_int64), ("crop_width", c_int64), ("shift", c_int), ("flip", c_float),
    ("flip_vertical", c_float), ("rotate", c_float), ("brightness", c_float), ("contrast", c_float),
    ("color", mw_color_jitter), ("erase", mw_random_erase), ("fill", c_float), ("seed", c_uint64),
]
mw_mix_options._fields_ = [
    ("struct_size", c_size_t), ("column", c_char_p), ("label", c_char_p), ("channels_first", c_bool),
    ("classes", c_int64), ("mixup", c_float), ("cutmix", c_float), ("probability", c_float), ("seed", c_uint64),
]
mw_normalize_options._fields_ = [
    ("struct_size", c_size_t), ("column", c_char_p), ("channels_first", c_bool), ("mean", POINTER(c_float)),
    ("deviation", POINTER(c_float)), ("channels", c_size_t),
]
mw_window_options._fields_ = [
    ("struct_size", c_size_t), ("length", c_int64), ("stride", c_int64), ("horizon", c_int64), ("gap", c_int64),
    ("inputs", POINTER(c_char_p)), ("input_count", c_size_t), ("targets", POINTER(c_char_p)),
    ("target_count", c_size_t), ("series", c_char_p),
]
mw_table_column._fields_ = [
    ("name", c_char_p), ("dtype", c_int), ("fields", POINTER(c_char_p)), ("field_count", c_size_t),
    ("classes", c_bool), ("class_names", POINTER(c_char_p)), ("class_count", c_size_t), ("scale", c_float),
    ("offset", c_float),
]
mw_table_options._fields_ = [
    ("struct_size", c_size_t), ("columns", POINTER(mw_table_column)), ("column_count", c_size_t),
    ("separator", c_char), ("no_header", c_bool), ("allocator", POINTER(mw_allocator)),
]
mw_tensor_column._fields_ = [
    ("name", c_char_p), ("tensor", c_char_p), ("path", c_char_p), ("dtype", c_int), ("scale", c_float),
    ("offset", c_float),
]
mw_image_random_crop._fields_ = [
    ("scale_least", c_float), ("scale_most", c_float), ("ratio_least", c_float), ("ratio_most", c_float),
    ("seed", c_uint64),
]
mw_label_table._fields_ = [
    ("path", c_char_p), ("name", c_char_p), ("label", c_char_p), ("separator", c_char),
    ("label_separator", c_char),
]
mw_image_options._fields_ = [
    ("struct_size", c_size_t), ("channels", c_int), ("channels_first", c_bool), ("height", c_int64),
    ("width", c_int64), ("fit", c_int), ("crop", c_float), ("random", mw_image_random_crop), ("reduce", c_bool),
    ("blend", c_bool), ("background", c_uint8 * 3), ("table", mw_label_table), ("broken", c_int),
    ("on_broken", mw_broken_function), ("user", c_void_p), ("threads", c_int), ("pixels_max", c_int64),
    ("bytes_max", c_int64), ("class_names", POINTER(c_char_p)), ("class_count", c_size_t),
    ("allocator", POINTER(mw_allocator)),
]
mw_sound_options._fields_ = [
    ("struct_size", c_size_t), ("rate", c_int64), ("length", c_int64), ("channels", c_int), ("place", c_int),
    ("seed", c_uint64), ("table", mw_label_table), ("broken", c_int), ("on_broken", mw_broken_function),
    ("user", c_void_p), ("threads", c_int), ("frames_max", c_int64), ("bytes_max", c_int64),
    ("class_names", POINTER(c_char_p)), ("class_count", c_size_t), ("allocator", POINTER(mw_allocator)),
]
mw_sound_change_options._fields_ = [
    ("struct_size", c_size_t), ("column", c_char_p), ("gain", c_float), ("shift", c_int64), ("noise", c_float),
    ("seed", c_uint64),
]
mw_feature._fields_ = [
    ("name", c_char_p), ("text", c_char_p), ("kind", c_int), ("optional", c_bool), ("dtype", c_int),
    ("layout", c_int), ("has_shape", c_bool), ("admits", c_int), ("shape", mw_shape), ("low", mw_shape),
    ("high", mw_shape), ("shape_count", c_size_t), ("shapes", POINTER(mw_shape)), ("has_value", c_bool),
    ("value", c_double),
]
mw_function_description._fields_ = [
    ("name", c_char_p), ("input_count", c_size_t), ("output_count", c_size_t), ("state_count", c_size_t),
    ("inputs", POINTER(mw_feature)), ("outputs", POINTER(mw_feature)), ("states", POINTER(mw_feature)),
    ("label", c_char_p), ("probabilities", c_char_p),
]
mw_text_pair._fields_ = [("key", c_char_p), ("value", c_char_p)]
mw_description._fields_ = [
    ("struct_size", c_size_t), ("text", c_char_p), ("version", c_char_p), ("author", c_char_p),
    ("license", c_char_p), ("pair_count", c_size_t), ("pairs", POINTER(mw_text_pair)),
    ("function_count", c_size_t), ("functions", POINTER(mw_function_description)), ("standard", c_size_t),
]
mw_confusion._fields_ = [("labels", c_char_p), ("classes", c_int64), ("counts", POINTER(c_int64))]
mw_measure._fields_ = [("name", c_char_p), ("value", c_double)]
mw_evaluation._fields_ = [
    ("loss", c_double), ("examples", c_int64), ("metric_count", c_size_t), ("metrics", mw_measure * 16),
]
mw_class_figures._fields_ = [
    ("support", c_int64), ("predicted", c_int64), ("correct", c_int64), ("precision", c_double),
    ("recall", c_double), ("f1", c_double),
]
mw_confusion_figures._fields_ = [
    ("labels", c_int64), ("correct", c_int64), ("accuracy", c_double), ("macro_precision", c_double),
    ("macro_recall", c_double), ("macro_f1", c_double),
]
mw_progress._fields_ = [
    ("epoch", c_int64), ("epochs", c_int64), ("step", c_int64), ("steps", c_int64), ("loss", c_double),
    ("epoch_end", c_bool), ("validation", mw_evaluation), ("seconds", c_double), ("seconds_left", c_double),
    ("learning_rate", c_float), ("best", c_double), ("best_epoch", c_int64), ("waited", c_int64),
]
mw_fit_summary._fields_ = [
    ("end", c_int), ("epochs", c_int64), ("steps", c_int64), ("seconds", c_double), ("loss", c_double),
    ("validation", mw_evaluation), ("best", c_double), ("best_epoch", c_int64), ("restored", c_bool),
]
mw_fit_data._fields_ = [
    ("training", POINTER(mw_dataset)), ("validation", POINTER(mw_dataset)), ("validation_share", c_double),
    ("seed", c_uint64), ("keep_order", c_bool),
]
mw_schedule._fields_ = [
    ("kind", c_int), ("period", c_int64), ("gamma", c_double), ("end", c_double), ("rise", c_double),
    ("start_divisor", c_double), ("end_divisor", c_double), ("function", mw_schedule_function),
    ("user", c_void_p), ("warmup_steps", c_int64), ("warmup_start", c_double),
]
mw_fit_schedule._fields_ = [
    ("rate", mw_schedule), ("plateau_patience", c_int64), ("plateau_factor", c_double),
    ("plateau_least", c_double),
]
mw_fit_checkpoint._fields_ = [("path", c_char_p), ("steps", c_int64), ("seconds", c_double), ("keep_last", c_int)]
mw_fit_stopping._fields_ = [
    ("best_by", c_char_p), ("best_highest", c_bool), ("patience", c_int64), ("min_delta", c_double),
    ("restore_best", c_bool),
]
mw_fit_metrics._fields_ = [
    ("path", c_char_p), ("more", POINTER(c_char_p)), ("more_count", c_size_t), ("steps", c_int64),
]
mw_fit_progress._fields_ = [
    ("quiet", c_bool), ("no_warnings", c_bool), ("ignore_signals", c_bool), ("function", mw_progress_function),
    ("user", c_void_p),
]
mw_fit_options._fields_ = [
    ("struct_size", c_size_t), ("epochs", c_int64), ("data", mw_fit_data), ("schedule", mw_fit_schedule),
    ("checkpoint", mw_fit_checkpoint), ("stopping", mw_fit_stopping), ("metrics", mw_fit_metrics),
    ("progress", mw_fit_progress), ("summary", POINTER(mw_fit_summary)),
]
mw_admitted_shapes._fields_ = [
    ("kind", c_int), ("declared", mw_shape), ("has_standard", c_bool), ("standard", mw_shape),
    ("low", mw_shape), ("high", mw_shape), ("count", c_size_t),
]
mw_gguf_value._fields_ = [
    ("key", c_char_p), ("type", c_char_p), ("array", c_bool), ("count", c_size_t), ("data", c_void_p),
]
mw_gguf_tensor._fields_ = [("name", c_char_p), ("type", c_char_p), ("shape", mw_shape)]
mw_gguf_file._fields_ = [
    ("values", POINTER(mw_gguf_value)), ("value_count", c_size_t), ("tensors", POINTER(mw_gguf_tensor)),
    ("tensor_count", c_size_t), ("source", mw_gguf_source), ("user", c_void_p),
]
mw_graph_options._fields_ = [("struct_size", c_size_t), ("allocator", POINTER(mw_allocator)), ("opset", c_int)]
mw_init._fields_ = [("hidden", c_uint64 * 3)]
mw_argument._fields_ = [("name", c_char_p), ("values", POINTER(POINTER(mw_tensor))), ("count", c_size_t)]
mw_input_shape._fields_ = [("input", c_char_p), ("shape", mw_shape)]
mw_log_mel_options._fields_ = [
    ("struct_size", c_size_t), ("rate", c_int64), ("hop", c_int64), ("window", c_int64), ("fft", c_int64),
    ("mels", c_int64), ("low", c_float), ("high", c_float), ("scale", c_int), ("equal_area", c_bool),
    ("floor", c_float),
]
mw_cross_entropy_options._fields_ = [
    ("struct_size", c_size_t), ("class_count", c_size_t), ("class_weights", POINTER(c_float)),
    ("label_smoothing", c_float), ("ignore_index", c_int32),
]
mw_metrics_options._fields_ = [
    ("struct_size", c_size_t), ("format", c_int), ("resume", c_bool), ("step", c_int64),
    ("allocator", POINTER(mw_allocator)),
]
mw_metrics_field._fields_ = [("name", c_char_p), ("value", c_double), ("text", c_char_p)]
mw_model_weights._fields_ = [("path", c_char_p), ("options", POINTER(mw_weights_options))]
mw_model_options._fields_ = [
    ("struct_size", c_size_t), ("compile", POINTER(mw_compile_options)), ("batch", c_int64),
    ("shapes", POINTER(mw_input_shape)), ("shape_count", c_size_t), ("onnx", POINTER(mw_onnx_options)),
    ("weights", mw_model_weights), ("max_plans", c_int), ("read_only", c_bool),
    ("description", POINTER(mw_description)),
]
mw_model_info._fields_ = [
    ("graph", POINTER(mw_graph)), ("description", POINTER(mw_description)), ("batch", c_int64),
    ("port_count", c_size_t),
]
mw_result._fields_ = [("name", c_char_p), ("dtype", c_int), ("data", c_void_p), ("count", c_size_t)]
mw_onnx_extent._fields_ = [("name", c_char_p), ("extent", c_int64)]
mw_onnx_constant._fields_ = [("input", c_char_p), ("data", c_void_p), ("size", c_size_t)]
mw_onnx_options._fields_ = [
    ("struct_size", c_size_t), ("allocator", POINTER(mw_allocator)), ("opset", c_int),
    ("extents", POINTER(mw_onnx_extent)), ("extent_count", c_size_t), ("shapes", POINTER(mw_input_shape)),
    ("shape_count", c_size_t), ("constants", POINTER(mw_onnx_constant)), ("constant_count", c_size_t),
    ("report", mw_format_report), ("report_user", c_void_p), ("flexible", c_bool), ("strict", c_bool),
]
mw_conv_options._fields_ = [
    ("struct_size", c_size_t), ("stride", c_int64 * 3), ("dilation", c_int64 * 3), ("groups", c_int64),
    ("pad_type", c_int), ("pad", c_int64 * 6), ("bias", c_bool), ("output_shape", mw_shape),
]
mw_operation._fields_ = [("name", c_char_p), ("since", c_int), ("gradient", c_int), ("argument_count", c_size_t)]
mw_operation_argument._fields_ = [("name", c_char_p), ("constant", c_bool), ("tuple", c_bool), ("optional", c_bool)]
mw_pool_options._fields_ = [
    ("struct_size", c_size_t), ("kernel", mw_shape), ("stride", c_int64 * 3), ("pad_type", c_int),
    ("pad", c_int64 * 6), ("ceil_mode", c_bool), ("exclude_padding", c_bool),
]
mw_recurrent_weights._fields_ = [
    ("weight_ih", POINTER(mw_tensor)), ("weight_hh", POINTER(mw_tensor)), ("bias", POINTER(mw_tensor)),
    ("peephole", POINTER(mw_tensor)), ("input_bias", POINTER(mw_tensor)),
]
mw_recurrent_options._fields_ = [
    ("struct_size", c_size_t), ("direction", c_int), ("last_only", c_bool), ("recurrent_activation", c_int),
    ("cell_activation", c_int), ("activation", c_int), ("clip", c_double), ("reset_after", c_bool),
    ("back", mw_recurrent_weights),
]
mw_recurrent._fields_ = [("y", POINTER(mw_tensor)), ("h", POINTER(mw_tensor)), ("c", POINTER(mw_tensor))]
mw_recurrent_layer_options._fields_ = [
    ("struct_size", c_size_t), ("layers", c_int), ("bidirectional", c_bool), ("batch_first", c_bool),
    ("bias", c_bool), ("dropout", c_float), ("h", POINTER(mw_tensor)), ("c", POINTER(mw_tensor)),
]
mw_resample_options._fields_ = [
    ("struct_size", c_size_t), ("interpolation", c_int), ("border", c_int), ("value", c_float),
    ("coordinates", c_int), ("align_corners", c_bool),
]
mw_crop_resize_options._fields_ = [
    ("struct_size", c_size_t), ("box", c_int), ("normalized", c_bool), ("spatial_scale", c_float),
    ("sampling", c_int), ("pad_value", c_float),
]
mw_slice._fields_ = [
    ("begin", c_int64), ("end", c_int64), ("stride", c_int64), ("from_start", c_bool), ("to_end", c_bool),
    ("squeeze", c_bool),
]
mw_non_maximum_suppression_options._fields_ = [
    ("struct_size", c_size_t), ("iou_threshold", c_float), ("score_threshold", c_float), ("per_class", c_bool),
]
mw_optimizer._fields_ = [("hidden", c_uint64 * 12)]
mw_optimizer_number_info._fields_ = [
    ("number", c_int), ("name", c_char_p), ("value", c_double), ("least", c_double), ("most", c_double),
    ("is_switch", c_bool),
]
mw_update_parameter._fields_ = [("name", c_char_p), ("dtype", c_int), ("shape", mw_shape), ("half", c_bool)]
mw_update_state._fields_ = [("name", c_char_p), ("shape", mw_shape), ("initial", c_float)]
mw_update_moment._fields_ = [
    ("step", c_int64), ("learning_rate", c_double), ("weight_decay", c_double), ("loss_scale", c_double),
    ("half", c_bool),
]
mw_update_scalar._fields_ = [("name", c_char_p), ("value", mw_update_number)]
mw_update_call._fields_ = [
    ("user", c_void_p), ("graph", POINTER(mw_graph)), ("parameter", POINTER(mw_update_parameter)),
    ("p", POINTER(mw_tensor)), ("g", POINTER(mw_tensor)), ("probe", POINTER(mw_tensor)),
    ("states", POINTER(POINTER(mw_tensor))), ("state_count", c_size_t), ("scalars", POINTER(mw_update_scalar)),
    ("numbers", POINTER(POINTER(mw_tensor))), ("scalar_count", c_size_t), ("weight_decay", c_double),
    ("loss_scale", c_double),
]
mw_optimizer_rule._fields_ = [
    ("struct_size", c_size_t), ("name", c_char_p), ("settings", c_char_p), ("update", mw_update_function),
    ("states", mw_update_states_function), ("scalars", POINTER(mw_update_scalar)), ("scalar_count", c_size_t),
    ("decays", c_bool), ("scaled_gradients", c_bool), ("probe", POINTER(mw_tensor)), ("user", c_void_p),
]
mw_pass_rule._fields_ = [("name", c_char_p), ("hits", c_size_t), ("refusals", c_size_t)]
mw_pass_note._fields_ = [("rule", c_char_p), ("operation", c_char_p), ("refused", c_char_p)]
mw_pass._fields_ = [
    ("name", c_char_p), ("stage", c_char_p), ("sentence", c_char_p), ("function", c_char_p),
    ("seconds", c_double), ("before", c_size_t), ("after", c_size_t), ("changed", c_bool),
    ("rules", POINTER(mw_pass_rule)), ("rule_count", c_size_t), ("notes", POINTER(mw_pass_note)),
    ("note_count", c_size_t), ("text", c_char_p), ("broken", c_char_p),
]
mw_weight_values._fields_ = [("name", c_char_p), ("dtype", c_int), ("data", c_void_p), ("count", c_size_t)]
mw_port._fields_ = [
    ("name", c_char_p), ("mil_name", c_char_p), ("dtype", c_int), ("shape", mw_shape), ("is_output", c_bool),
    ("is_parameter", c_bool),
]
mw_label._fields_ = [("index", c_int64), ("name", c_char_p), ("number", c_int64)]
mw_warning._fields_ = [
    ("operation", c_char_p), ("argument", c_char_p), ("tensor", c_char_p), ("value", c_double),
    ("replaced_by", c_double), ("count", c_size_t), ("message", c_char_p),
]
mw_program_info._fields_ = [
    ("port_count", c_size_t), ("warning_count", c_size_t), ("where", c_char_p), ("mil", c_char_p),
]
mw_placement._fields_ = [
    ("operation", c_char_p), ("tensor", c_char_p), ("provider", c_char_p), ("device", c_int),
    ("reason", c_char_p), ("elsewhere", c_char_p),
]
mw_score_batch._fields_ = [
    ("examples", c_size_t), ("predictions", POINTER(c_float)), ("labels", POINTER(c_int32)),
    ("targets", POINTER(c_float)), ("weights", POINTER(c_float)),
]
mw_score._fields_ = [("name", c_char_p), ("value", c_double), ("higher", c_bool)]
mw_error._fields_ = [
    ("status", c_int), ("message", c_char * 512), ("operation", c_char * 64), ("tensor", c_char * 96),
    ("file", c_char_p), ("line", c_int), ("text_line", c_int), ("text_column", c_int),
]
mw_allocator._fields_ = [("resize", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t)), ("user", c_void_p)]
mw_thread_hooks._fields_ = [
    ("start", CFUNCTYPE(c_bool, c_void_p, c_char_p, mw_thread_run, c_void_p, POINTER(c_void_p))),
    ("join", CFUNCTYPE(None, c_void_p, c_void_p)), ("user", c_void_p),
]
mw_encoded_field._fields_ = [
    ("name", c_char_p), ("kind", c_int), ("reason", c_char_p), ("missing", c_int64), ("filled", c_double),
    ("offset", c_double), ("mean", c_double), ("deviation", c_double), ("word_count", c_size_t),
    ("words", POINTER(c_char_p)), ("width", c_int64), ("length", c_int64), ("first_column", c_int64),
    ("columns", c_int64),
]
mw_encoded_target._fields_ = [
    ("name", c_char_p), ("kind", c_int), ("mean", c_double), ("deviation", c_double), ("logarithm", c_bool),
    ("classes", mw_classes),
]
mw_field_setting._fields_ = [
    ("name", c_char_p), ("kind", c_int), ("missing", c_int), ("constant", c_double), ("width", c_int64),
    ("length", c_int64), ("elements", c_int),
]
mw_table_window._fields_ = [
    ("length", c_int64), ("stride", c_int64), ("horizon", c_int64), ("gap", c_int64), ("series", c_char_p),
]
mw_table_form._fields_ = [("separator", c_char), ("decimal", c_char), ("encoding", c_int), ("no_header", c_bool)]
mw_table_fit_options._fields_ = [
    ("struct_size", c_size_t), ("path", c_char_p), ("target", c_char_p), ("more_targets", POINTER(c_char_p)),
    ("more_target_count", c_size_t), ("target_kind", c_int), ("target_scale", c_int),
    ("fields", POINTER(mw_field_setting)), ("field_count", c_size_t), ("only_fields", c_bool),
    ("form", mw_table_form), ("validation", c_double), ("split", c_int), ("split_field", c_char_p),
    ("seed", c_uint64), ("folds", c_int), ("fold", c_int), ("window", mw_table_window),
    ("allocator", POINTER(mw_allocator)),
]
mw_table_rows._fields_ = [
    ("count", c_int64), ("x", POINTER(c_float)), ("classes", POINTER(c_int64)), ("values", POINTER(c_double)),
    ("ids", POINTER(c_char_p)), ("progress", c_double),
]
mw_table_stream_options._fields_ = [
    ("struct_size", c_size_t), ("path", c_char_p), ("function", mw_table_rows_function), ("user", c_void_p),
    ("form", mw_table_form), ("id", c_char_p), ("with_target", c_bool), ("rows", c_int64),
]
mw_tensor_info._fields_ = [
    ("name", c_char_p), ("dtype", c_int), ("shape", mw_shape), ("size", c_size_t), ("stored", c_char_p),
    ("file", c_char_p),
]
mw_tensors_note._fields_ = [("key", c_char_p), ("value", c_char_p)]
mw_tensors_info._fields_ = [("format", c_char_p), ("count", c_size_t)]
mw_tensors_array._fields_ = [
    ("type", c_char_p), ("count", c_size_t), ("data", c_void_p), ("ends", POINTER(c_uint64)),
]
mw_tensor_values._fields_ = [("name", c_char_p), ("dtype", c_int), ("shape", mw_shape), ("data", c_void_p)]
mw_text_data_options._fields_ = [
    ("struct_size", c_size_t), ("tokens", c_int64), ("padded", c_bool), ("buckets", c_bool), ("apart", c_bool),
    ("whole", c_bool), ("validation", c_double), ("chat", c_char_p), ("cache", c_char_p), ("words", c_int64),
    ("multiple", c_int64),
]
mw_text_data_info._fields_ = [
    ("documents", c_uint64), ("tokens", c_uint64), ("text_bytes", c_uint64), ("examples", c_int64),
    ("validation_examples", c_int64), ("training_tokens", c_uint64), ("buckets", POINTER(c_int64)),
    ("bucket_count", c_size_t), ("chat", c_char_p), ("file", c_char_p), ("was_made", c_bool),
    ("label_bytes", c_double),
]
mw_text_config._fields_ = [
    ("struct_size", c_size_t), ("family", c_char_p), ("layers", c_int64), ("width", c_int64),
    ("heads", c_int64), ("kv_heads", c_int64), ("head_width", c_int64), ("hidden", c_int64), ("words", c_int64),
    ("positions", c_int64), ("norm_epsilon", c_float), ("rope_theta", c_double), ("rope_factor", c_double),
    ("rope_low", c_double), ("rope_high", c_double), ("rope_original", c_double), ("tied", c_bool),
    ("score_softcap", c_double), ("logit_softcap", c_double), ("query_scale", c_double), ("window", c_int64),
    ("types", c_int64), ("pooler", c_bool), ("word_head", c_bool),
]
mw_text_tuning._fields_ = [
    ("rank", c_int), ("alpha", c_float), ("weights", POINTER(c_char_p)), ("weight_count", c_size_t),
]
mw_text_graph_options._fields_ = [
    ("struct_size", c_size_t), ("batch", c_int64), ("tokens", c_int64), ("cache", c_int64), ("loss", c_bool),
    ("apart", c_bool), ("weights", c_int), ("tuning", mw_text_tuning),
]
mw_text_model_options._fields_ = [
    ("struct_size", c_size_t), ("compile", POINTER(mw_compile_options)), ("cache", c_int64), ("weights", c_int),
    ("tuning", mw_text_tuning),
]
mw_generate_options._fields_ = [
    ("struct_size", c_size_t), ("tokens", c_int64), ("temperature", c_float), ("top_k", c_int),
    ("top_p", c_float), ("min_p", c_float), ("repetition", c_float), ("seed", c_uint64),
    ("stops", POINTER(c_char_p)), ("stop_count", c_size_t), ("token", CFUNCTYPE(c_bool, c_void_p, c_char_p)),
    ("user", c_void_p),
]
mw_embed_options._fields_ = [("struct_size", c_size_t), ("pooling", c_int), ("unit", c_bool)]
mw_text_save_options._fields_ = [
    ("struct_size", c_size_t), ("type", c_char_p), ("trained", c_char_p), ("version", c_int),
    ("cache", c_int64), ("check_only", c_bool),
]
mw_tokenizer_info._fields_ = [("model", c_char_p), ("count", c_size_t), ("added", c_size_t)]
mw_tokens._fields_ = [
    ("ids", POINTER(c_int32)), ("begin", POINTER(c_size_t)), ("end", POINTER(c_size_t)), ("count", c_size_t),
]
mw_encode_options._fields_ = [("struct_size", c_size_t), ("no_special", c_bool), ("special_as_text", c_bool)]
mw_tokenizer_train_options._fields_ = [
    ("struct_size", c_size_t), ("count", c_size_t), ("least", c_int64), ("pattern", c_char_p),
    ("special", POINTER(c_char_p)), ("special_count", c_size_t),
]
mw_trainer_recomputation._fields_ = [
    ("stretches", c_size_t), ("bytes", c_uint64), ("bytes_before", c_uint64), ("flops", c_double),
    ("flops_before", c_double),
]
mw_trainer_parts._fields_ = [
    ("calls", c_size_t), ("programs", c_size_t), ("held", c_size_t), ("held_max", c_size_t),
    ("operations", c_size_t), ("compiled", c_size_t),
]
mw_trainer_counters._fields_ = [
    ("steps", c_int64), ("refused_steps", c_int64), ("feed_bytes", c_uint64), ("result_bytes", c_uint64),
    ("state_bytes_in", c_uint64), ("state_bytes_out", c_uint64), ("exchanged_bytes", c_uint64),
    ("early_bytes", c_uint64),
]
mw_trainer_info._fields_ = [
    ("steps", c_int64), ("learning_rate", c_float), ("loss_scale", c_float), ("gradient_norm", c_double),
    ("warning_count", c_size_t), ("watch_count", c_size_t), ("counters", mw_trainer_counters),
    ("parts", mw_trainer_parts), ("recomputation", mw_trainer_recomputation),
]
mw_parameter_group._fields_ = [("hidden", c_uint64 * 6)]
mw_metric._fields_ = [("name", c_char_p), ("tensor", POINTER(mw_tensor))]
mw_trainer_precision._fields_ = [("loss_scale", c_float), ("dynamic", c_bool), ("interval", c_int)]
mw_trainer_clipping._fields_ = [("norm", c_float), ("value", c_float)]
mw_trainer_memory._fields_ = [("limit", c_uint64), ("segments", c_int)]
mw_trainer_ranks._fields_ = [
    ("communicator", POINTER(mw_communicator)), ("verify_steps", c_int), ("local_steps", c_int),
    ("outer_learning_rate", c_float), ("outer_momentum", c_float), ("wire", c_int), ("bucket_bytes", c_uint64),
    ("shard_states", c_bool),
]
mw_trainer_watch._fields_ = [
    ("gradient_norms", c_bool), ("values", POINTER(mw_watch)), ("count", c_size_t), ("replay_folder", c_char_p),
    ("compare", POINTER(mw_compare_options)),
]
mw_trainer_rates._fields_ = [
    ("decay", c_float), ("factors", POINTER(mw_rate_factor)), ("factor_count", c_size_t),
    ("source", POINTER(mw_graph)), ("report", mw_rate_report), ("report_user", c_void_p),
]
mw_trainer_options._fields_ = [
    ("struct_size", c_size_t), ("loss", POINTER(mw_tensor)), ("optimizer", mw_optimizer),
    ("metric", POINTER(mw_tensor)), ("metrics", POINTER(mw_metric)), ("metric_count", c_size_t),
    ("prediction", POINTER(mw_tensor)), ("variants", POINTER(POINTER(mw_tensor))), ("variant_count", c_size_t),
    ("groups", POINTER(mw_parameter_group)), ("group_count", c_size_t), ("rates", mw_trainer_rates),
    ("accumulate", c_int), ("dispatch_steps", c_int), ("average_decay", c_float), ("average_from", c_int),
    ("precision", mw_trainer_precision), ("clipping", mw_trainer_clipping), ("memory", mw_trainer_memory),
    ("ranks", mw_trainer_ranks), ("watch", mw_trainer_watch), ("compile", mw_compile_options),
]
mw_rate_factor._fields_ = [("pattern", c_char_p), ("factor", c_float)]
mw_rate_choice._fields_ = [("parameter", c_char_p), ("depth", c_int), ("pattern", c_char_p), ("factor", c_double)]
mw_weight._fields_ = [
    ("name", c_char_p), ("dtype", c_int), ("shape", mw_shape), ("size", c_size_t), ("is_parameter", c_bool),
    ("role", c_int), ("role_name", c_char_p), ("operation", c_char_p), ("argument", c_char_p),
    ("obstacle", c_char_p), ("reason", c_char_p), ("layer", c_char_p), ("depth", c_int),
]
mw_tune_choice._fields_ = [
    ("weight", POINTER(mw_weight)), ("pattern", c_char_p), ("outcome", c_int), ("reason", c_char_p),
]
mw_tune_options._fields_ = [
    ("struct_size", c_size_t), ("patterns", POINTER(c_char_p)), ("pattern_count", c_size_t), ("last", c_int),
    ("skip_fixed", c_bool), ("dtype", c_int), ("shapes", POINTER(mw_input_shape)), ("shape_count", c_size_t),
    ("report", mw_tune_report), ("report_user", c_void_p),
]
mw_lora_options._fields_ = [
    ("struct_size", c_size_t), ("patterns", POINTER(c_char_p)), ("pattern_count", c_size_t), ("last", c_int),
    ("rank", c_int), ("alpha", c_float), ("full_patterns", POINTER(c_char_p)), ("full_count", c_size_t),
    ("skip_fixed", c_bool), ("dtype", c_int), ("shapes", POINTER(mw_input_shape)), ("shape_count", c_size_t),
    ("report", mw_tune_report), ("report_user", c_void_p),
]
mw_axes._fields_ = [("count", c_int), ("axis", c_int * 8)]
mw_watch._fields_ = [("hidden", c_uint64 * 4)]
mw_watched._fields_ = [
    ("name", c_char_p), ("of", c_int), ("kind", c_int), ("parameter", c_char_p), ("elements", c_int64),
    ("step", c_int64), ("min", c_double), ("max", c_double), ("mean", c_double), ("deviation", c_double),
    ("norm", c_double), ("zeros", c_double), ("non_finite", c_double),
]
mw_weights_prefix._fields_ = [("from", c_char_p), ("to", c_char_p)]
mw_weights_choice._fields_ = [
    ("outcome", c_int), ("parameter", c_char_p), ("tensor", c_char_p), ("shape", mw_shape), ("there", mw_shape),
]
mw_weights_options._fields_ = [
    ("struct_size", c_size_t), ("prefixes", POINTER(mw_weights_prefix)), ("prefix_count", c_size_t),
    ("name", mw_weights_name), ("name_user", c_void_p), ("partial", c_bool), ("new_heads", c_bool),
    ("base", c_bool), ("compressed", c_bool), ("report", mw_weights_report), ("report_user", c_void_p),
]
mw_compress_choice._fields_ = [
    ("name", c_char_p), ("shape", mw_shape), ("dtype", c_int), ("size_before", c_size_t),
    ("size_after", c_size_t), ("largest_error", c_double), ("relative_error", c_double), ("reason", c_char_p),
]
mw_compress_options._fields_ = [
    ("struct_size", c_size_t), ("form", c_int), ("bits", c_int), ("least_elements", c_int64),
    ("report", mw_compress_report), ("report_user", c_void_p),
]
mw_format_problem._fields_ = [("node", c_char_p), ("operation", c_char_p), ("opset", c_int64), ("reason", c_char_p)]
mw_write_options._fields_ = [
    ("struct_size", c_size_t), ("opset", c_int), ("function", c_char_p), ("bake", mw_parameter_source),
    ("bake_user", c_void_p), ("replace", mw_parameter_source), ("replace_user", c_void_p),
    ("description", POINTER(mw_description)), ("report", mw_format_report), ("report_user", c_void_p),
    ("any_batch", c_bool), ("keep_batch", c_bool), ("check_only", c_bool),
]

FUNCTIONS = {
    "mw_app_defaults": (mw_app_options, []),
    "mw_graph_for_app": (POINTER(mw_graph), [
        ("graph", POINTER(mw_graph)), ("options", POINTER(mw_app_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_app_image_feature": (mw_feature, [("options", POINTER(mw_app_options))]),
    "mw_grad": (c_int, [
        ("loss", POINTER(mw_tensor)), ("x", POINTER(POINTER(mw_tensor))), ("count", c_size_t),
        ("out_dx", POINTER(POINTER(mw_tensor))), ("err", POINTER(mw_error)),
    ]),
    "mw_backward": (c_int, [
        ("pullback", POINTER(mw_pullback)), ("x", POINTER(POINTER(mw_tensor))), ("count", c_size_t),
        ("out_dx", POINTER(POINTER(mw_tensor))), ("err", POINTER(mw_error)),
    ]),
    "mw_vjp": (c_int, [
        ("y", POINTER(POINTER(mw_tensor))), ("u", POINTER(POINTER(mw_tensor))), ("y_count", c_size_t),
        ("x", POINTER(POINTER(mw_tensor))), ("count", c_size_t), ("out_dx", POINTER(POINTER(mw_tensor))),
        ("err", POINTER(mw_error)),
    ]),
    "mw_jvp": (c_int, [
        ("y", POINTER(POINTER(mw_tensor))), ("y_count", c_size_t), ("x", POINTER(POINTER(mw_tensor))),
        ("v", POINTER(POINTER(mw_tensor))), ("count", c_size_t), ("out_dy", POINTER(POINTER(mw_tensor))),
        ("err", POINTER(mw_error)),
    ]),
    "mw_hvp": (c_int, [
        ("loss", POINTER(mw_tensor)), ("x", POINTER(POINTER(mw_tensor))), ("v", POINTER(POINTER(mw_tensor))),
        ("count", c_size_t), ("out_hv", POINTER(POINTER(mw_tensor))), ("err", POINTER(mw_error)),
    ]),
    "mw_recompute": (POINTER(mw_tensor), [
        ("y", POINTER(mw_tensor)), ("inputs", POINTER(POINTER(mw_tensor))), ("count", c_size_t),
    ]),
    "mw_custom_vjp": (POINTER(mw_tensor), [
        ("name", c_char_p), ("y", POINTER(mw_tensor)), ("inputs", POINTER(POINTER(mw_tensor))), ("count", c_size_t),
        ("rule", mw_custom_vjp_rule), ("user", c_void_p),
    ]),
    "mw_vmap": (c_int, [
        ("function", mw_vmap_function), ("user", c_void_p), ("x", POINTER(POINTER(mw_tensor))),
        ("mapped", POINTER(c_bool)), ("count", c_size_t), ("out_y", POINTER(POINTER(mw_tensor))),
        ("y_count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_transport_defaults": (mw_transport, [("name", c_char_p), ("rank", c_int), ("size", c_int)]),
    "mw_communicator_create": (POINTER(mw_communicator), [
        ("transport", POINTER(mw_transport)), ("allocator", POINTER(mw_allocator)), ("err", POINTER(mw_error)),
    ]),
    "mw_communicator_finish": (c_int, [("communicator", POINTER(mw_communicator)), ("err", POINTER(mw_error))]),
    "mw_communicator_destroy": (None, [("communicator", POINTER(mw_communicator))]),
    "mw_communicator_set_timeout": (c_int, [
        ("communicator", POINTER(mw_communicator)), ("seconds", c_double), ("err", POINTER(mw_error)),
    ]),
    "mw_communicator_barrier": (c_int, [("communicator", POINTER(mw_communicator)), ("err", POINTER(mw_error))]),
    "mw_communicator_broadcast": (c_int, [
        ("communicator", POINTER(mw_communicator)), ("root", c_int), ("data", c_void_p), ("size", c_size_t),
        ("err", POINTER(mw_error)),
    ]),
    "mw_communicator_gather": (c_int, [
        ("communicator", POINTER(mw_communicator)), ("record", c_void_p), ("size", c_size_t), ("out", c_void_p),
        ("err", POINTER(mw_error)),
    ]),
    "mw_communicator_allreduce": (c_int, [
        ("communicator", POINTER(mw_communicator)), ("data", c_void_p), ("count", c_size_t), ("dtype", c_int),
        ("err", POINTER(mw_error)),
    ]),
    "mw_communicator_fail": (None, [("communicator", POINTER(mw_communicator)), ("reason", c_char_p)]),
    "mw_communicator_abort": (None, [("communicator", POINTER(mw_communicator)), ("code", c_int)]),
    "mw_communicator_get_info": (mw_communicator_info, [("communicator", POINTER(mw_communicator))]),
    "mw_compile_defaults": (mw_compile_options, []),
    "mw_coreml_open": (POINTER(mw_coreml), [
        ("path", c_char_p), ("options", POINTER(mw_graph_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_coreml_destroy": (None, [("model", POINTER(mw_coreml))]),
    "mw_coreml_graph": (POINTER(mw_graph), [("model", POINTER(mw_coreml)), ("err", POINTER(mw_error))]),
    "mw_coreml_get_info": (mw_coreml_info, [("model", POINTER(mw_coreml))]),
    "mw_coreml_part": (POINTER(mw_coreml), [("model", POINTER(mw_coreml)), ("index", c_size_t)]),
    "mw_dataset_create": (POINTER(mw_dataset), [
        ("columns", POINTER(mw_column)), ("column_count", c_size_t), ("examples", c_int64), ("copy", c_bool),
        ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_create_callback": (POINTER(mw_dataset), [
        ("columns", POINTER(mw_column)), ("column_count", c_size_t), ("examples", c_int64),
        ("function", mw_dataset_function), ("user", c_void_p), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_destroy": (None, [("dataset", POINTER(mw_dataset))]),
    "mw_dataset_examples": (c_int64, [("dataset", POINTER(mw_dataset))]),
    "mw_dataset_column_at": (POINTER(mw_column), [("dataset", POINTER(mw_dataset)), ("index", c_size_t)]),
    "mw_dataset_classes": (mw_classes, [("dataset", POINTER(mw_dataset)), ("column", c_char_p)]),
    "mw_dataset_split": (c_int, [
        ("source", POINTER(mw_dataset)), ("counts", POINTER(c_int64)), ("part_count", c_size_t), ("seed", c_uint64),
        ("out_parts", POINTER(POINTER(mw_dataset))), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_prefetch": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("batches", c_int), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_prefetch_threads": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("batches", c_int), ("threads", c_int), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_bucket": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("lengths", POINTER(c_int64)), ("limits", POINTER(c_int64)),
        ("limit_count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_loader_defaults": (mw_loader_options, [("dataset", POINTER(mw_dataset)), ("batch", c_int64)]),
    "mw_loader_create": (POINTER(mw_loader), [("options", POINTER(mw_loader_options)), ("err", POINTER(mw_error))]),
    "mw_loader_destroy": (None, [("loader", POINTER(mw_loader))]),
    "mw_loader_next": (POINTER(mw_batch), [("loader", POINTER(mw_loader)), ("err", POINTER(mw_error))]),
    "mw_loader_batches": (c_int64, [("loader", POINTER(mw_loader))]),
    "mw_loader_tell": (mw_loader_position, [("loader", POINTER(mw_loader))]),
    "mw_loader_seek": (c_int, [
        ("loader", POINTER(mw_loader)), ("position", mw_loader_position), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_subset": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("examples", POINTER(c_int64)), ("count", c_int64),
        ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_shard": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("rank", c_int), ("ranks", c_int), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_concatenate": (POINTER(mw_dataset), [
        ("sources", POINTER(POINTER(mw_dataset))), ("source_count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_sample": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("weights", POINTER(c_double)), ("count", c_int64), ("seed", c_uint64),
        ("err", POINTER(mw_error)),
    ]),
    "mw_divide_defaults": (mw_divide_options, [("share", c_double)]),
    "mw_dataset_divide": (c_int, [
        ("source", POINTER(mw_dataset)), ("options", POINTER(mw_divide_options)),
        ("out_parts", POINTER(POINTER(mw_dataset))), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_zip": (POINTER(mw_dataset), [
        ("parts", POINTER(mw_zip_part)), ("part_count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_map": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("columns", POINTER(mw_column)), ("column_count", c_size_t),
        ("function", mw_map_function), ("user", c_void_p), ("seed", c_uint64), ("err", POINTER(mw_error)),
    ]),
    "mw_map_example_uniform": (c_float, [("example", POINTER(mw_map_example)), ("index", c_uint64)]),
    "mw_augment_defaults": (mw_augment_options, [("column", c_char_p)]),
    "mw_dataset_augment": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("options", POINTER(mw_augment_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_mix_defaults": (mw_mix_options, [("column", c_char_p), ("label", c_char_p), ("classes", c_int64)]),
    "mw_dataset_mix": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("options", POINTER(mw_mix_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_normalize_defaults": (mw_normalize_options, [
        ("column", c_char_p), ("mean", POINTER(c_float)), ("deviation", POINTER(c_float)), ("channels", c_size_t),
    ]),
    "mw_dataset_normalize": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("options", POINTER(mw_normalize_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_window_defaults": (mw_window_options, [("length", c_int64)]),
    "mw_dataset_window": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("options", POINTER(mw_window_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_open_idx": (POINTER(mw_dataset), [
        ("folder", c_char_p), ("prefix", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_table_defaults": (mw_table_options, [("columns", POINTER(mw_table_column)), ("column_count", c_size_t)]),
    "mw_dataset_open_csv": (POINTER(mw_dataset), [
        ("path", c_char_p), ("options", POINTER(mw_table_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_open_jsonl": (POINTER(mw_dataset), [
        ("path", c_char_p), ("options", POINTER(mw_table_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_open_tensors": (POINTER(mw_dataset), [
        ("path", c_char_p), ("columns", POINTER(mw_tensor_column)), ("column_count", c_size_t),
        ("err", POINTER(mw_error)),
    ]),
    "mw_image_defaults": (mw_image_options, []),
    "mw_dataset_open_images": (POINTER(mw_dataset), [
        ("folder", c_char_p), ("options", POINTER(mw_image_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_open_image_files": (POINTER(mw_dataset), [
        ("paths", POINTER(c_char_p)), ("count", c_size_t), ("options", POINTER(mw_image_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_sound_defaults": (mw_sound_options, []),
    "mw_dataset_open_sounds": (POINTER(mw_dataset), [
        ("folder", c_char_p), ("options", POINTER(mw_sound_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_dataset_open_sound_files": (POINTER(mw_dataset), [
        ("paths", POINTER(c_char_p)), ("count", c_size_t), ("options", POINTER(mw_sound_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_sound_change_defaults": (mw_sound_change_options, [("column", c_char_p)]),
    "mw_dataset_change_sounds": (POINTER(mw_dataset), [
        ("source", POINTER(mw_dataset)), ("options", POINTER(mw_sound_change_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_description_defaults": (mw_description, []),
    "mw_description_find": (POINTER(mw_feature), [("function", POINTER(mw_function_description)), ("name", c_char_p)]),
    "mw_description_print": (POINTER(c_char), [("description", POINTER(mw_description)), ("err", POINTER(mw_error))]),
    "mw_trainer_evaluate": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("dataset", POINTER(mw_dataset)), ("confusion", POINTER(mw_confusion)),
        ("out", POINTER(mw_evaluation)), ("err", POINTER(mw_error)),
    ]),
    "mw_confusion_class": (mw_class_figures, [("counts", POINTER(c_int64)), ("classes", c_int64), ("index", c_int64)]),
    "mw_confusion_all": (mw_confusion_figures, [("counts", POINTER(c_int64)), ("classes", c_int64)]),
    "mw_fit_defaults": (mw_fit_options, [("training", POINTER(mw_dataset)), ("epochs", c_int64)]),
    "mw_trainer_log": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("fields", POINTER(mw_metrics_field)), ("count", c_size_t),
        ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_fit": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("options", POINTER(mw_fit_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_fit_signal": (c_int, []),
    "mw_graph_function_at": (c_char_p, [("graph", POINTER(mw_graph)), ("index", c_size_t)]),
    "mw_graph_opset": (c_int, [("graph", POINTER(mw_graph))]),
    "mw_graph_function": (POINTER(mw_graph), [
        ("graph", POINTER(mw_graph)), ("name", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_graph_admitted_shapes": (c_int, [
        ("graph", POINTER(mw_graph)), ("input", c_char_p), ("out", POINTER(mw_admitted_shapes)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_graph_listed_shape": (c_int, [
        ("graph", POINTER(mw_graph)), ("input", c_char_p), ("index", c_size_t), ("out", POINTER(mw_shape)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_graph_specialize": (POINTER(mw_graph), [
        ("graph", POINTER(mw_graph)), ("shapes", POINTER(mw_input_shape)), ("count", c_size_t),
        ("err", POINTER(mw_error)),
    ]),
    "mw_graph_rebatch": (POINTER(mw_graph), [
        ("graph", POINTER(mw_graph)), ("examples", c_int64), ("err", POINTER(mw_error)),
    ]),
    "mw_graph_stateful": (POINTER(mw_graph), [("graph", POINTER(mw_graph)), ("err", POINTER(mw_error))]),
    "mw_gguf_write": (c_int, [("path", c_char_p), ("file", POINTER(mw_gguf_file)), ("err", POINTER(mw_error))]),
    "mw_graph_defaults": (mw_graph_options, []),
    "mw_graph_create": (POINTER(mw_graph), [("options", POINTER(mw_graph_options)), ("err", POINTER(mw_error))]),
    "mw_graph_destroy": (None, [("graph", POINTER(mw_graph))]),
    "mw_graph_check": (c_int, [("graph", POINTER(mw_graph)), ("err", POINTER(mw_error))]),
    "mw_input": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("name", c_char_p), ("dtype", c_int), ("shape", mw_shape),
    ]),
    "mw_init_zeros": (mw_init, []),
    "mw_init_constant": (mw_init, [("value", c_float)]),
    "mw_init_uniform": (mw_init, [("low", c_float), ("high", c_float)]),
    "mw_init_normal": (mw_init, [("mean", c_float), ("stddev", c_float)]),
    "mw_init_kaiming_uniform": (mw_init, []),
    "mw_init_kaiming_normal": (mw_init, []),
    "mw_init_xavier_uniform": (mw_init, []),
    "mw_init_xavier_normal": (mw_init, []),
    "mw_init_data": (mw_init, [("data", c_void_p)]),
    "mw_parameter": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("name", c_char_p), ("dtype", c_int), ("shape", mw_shape), ("init", mw_init),
    ]),
    "mw_state": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("name", c_char_p), ("dtype", c_int), ("shape", mw_shape), ("init", mw_init),
    ]),
    "mw_state_assign": (POINTER(mw_tensor), [("state", POINTER(mw_tensor)), ("value", POINTER(mw_tensor))]),
    "mw_constant": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("shape", mw_shape), ("data", c_void_p),
    ]),
    "mw_scalar": (POINTER(mw_tensor), [("graph", POINTER(mw_graph)), ("dtype", c_int), ("value", c_double)]),
    "mw_name": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("name", c_char_p)]),
    "mw_output": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("name", c_char_p)]),
    "mw_stop_gradient": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_graph_evaluation": (POINTER(mw_graph), [("graph", POINTER(mw_graph)), ("err", POINTER(mw_error))]),
    "mw_op": (c_int, [
        ("graph", POINTER(mw_graph)), ("operation", c_char_p), ("arguments", POINTER(mw_argument)),
        ("count", c_size_t), ("out_results", POINTER(POINTER(mw_tensor))), ("result_count", c_size_t),
        ("err", POINTER(mw_error)),
    ]),
    "mw_text": (POINTER(mw_tensor), [("graph", POINTER(mw_graph)), ("text", c_char_p)]),
    "mw_graph_flatten": (POINTER(mw_graph), [("graph", POINTER(mw_graph)), ("err", POINTER(mw_error))]),
    "mw_tensor_dtype": (c_int, [("x", POINTER(mw_tensor))]),
    "mw_tensor_shape": (mw_shape, [("x", POINTER(mw_tensor))]),
    "mw_tensor_name": (c_char_p, [("x", POINTER(mw_tensor))]),
    "mw_graph_find": (POINTER(mw_tensor), [("graph", POINTER(mw_graph)), ("name", c_char_p)]),
    "mw_tensor_graph": (POINTER(mw_graph), [("x", POINTER(mw_tensor))]),
    "mw_graph_print": (POINTER(c_char), [("graph", POINTER(mw_graph)), ("err", POINTER(mw_error))]),
    "mw_string_free": (None, [("string", c_char_p)]),
    "mw_log_mel_defaults": (mw_log_mel_options, [("rate", c_int64)]),
    "mw_log_mel": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("options", POINTER(mw_log_mel_options))]),
    "mw_cross_entropy": (POINTER(mw_tensor), [("logits", POINTER(mw_tensor)), ("labels", POINTER(mw_tensor))]),
    "mw_cross_entropy_defaults": (mw_cross_entropy_options, []),
    "mw_cross_entropy_with": (POINTER(mw_tensor), [
        ("logits", POINTER(mw_tensor)), ("labels", POINTER(mw_tensor)),
        ("options", POINTER(mw_cross_entropy_options)),
    ]),
    "mw_nll": (POINTER(mw_tensor), [("log_probabilities", POINTER(mw_tensor)), ("labels", POINTER(mw_tensor))]),
    "mw_multi_margin": (POINTER(mw_tensor), [
        ("scores", POINTER(mw_tensor)), ("labels", POINTER(mw_tensor)), ("margin", c_float),
    ]),
    "mw_accuracy": (POINTER(mw_tensor), [("logits", POINTER(mw_tensor)), ("labels", POINTER(mw_tensor))]),
    "mw_accuracy_ignoring": (POINTER(mw_tensor), [
        ("logits", POINTER(mw_tensor)), ("labels", POINTER(mw_tensor)), ("ignore_index", c_int32),
    ]),
    "mw_mse": (POINTER(mw_tensor), [("y", POINTER(mw_tensor)), ("target", POINTER(mw_tensor))]),
    "mw_l1": (POINTER(mw_tensor), [("y", POINTER(mw_tensor)), ("target", POINTER(mw_tensor))]),
    "mw_huber": (POINTER(mw_tensor), [("y", POINTER(mw_tensor)), ("target", POINTER(mw_tensor)), ("delta", c_float)]),
    "mw_smooth_l1": (POINTER(mw_tensor), [
        ("y", POINTER(mw_tensor)), ("target", POINTER(mw_tensor)), ("beta", c_float),
    ]),
    "mw_binary_cross_entropy": (POINTER(mw_tensor), [
        ("logits", POINTER(mw_tensor)), ("target", POINTER(mw_tensor)), ("positive_weight", POINTER(mw_tensor)),
    ]),
    "mw_kl_divergence": (POINTER(mw_tensor), [
        ("log_probabilities", POINTER(mw_tensor)), ("target", POINTER(mw_tensor)),
    ]),
    "mw_hinge": (POINTER(mw_tensor), [("y", POINTER(mw_tensor)), ("target", POINTER(mw_tensor))]),
    "mw_normalize": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axis", c_int), ("epsilon", c_float)]),
    "mw_cosine_embedding": (POINTER(mw_tensor), [
        ("a", POINTER(mw_tensor)), ("b", POINTER(mw_tensor)), ("target", POINTER(mw_tensor)), ("margin", c_float),
    ]),
    "mw_triplet": (POINTER(mw_tensor), [
        ("anchor", POINTER(mw_tensor)), ("positive", POINTER(mw_tensor)), ("negative", POINTER(mw_tensor)),
        ("margin", c_float),
    ]),
    "mw_info_nce": (POINTER(mw_tensor), [
        ("queries", POINTER(mw_tensor)), ("keys", POINTER(mw_tensor)), ("temperature", c_float),
    ]),
    "mw_nt_xent": (POINTER(mw_tensor), [
        ("a", POINTER(mw_tensor)), ("b", POINTER(mw_tensor)), ("temperature", c_float),
    ]),
    "mw_ctc": (POINTER(mw_tensor), [
        ("log_probabilities", POINTER(mw_tensor)), ("labels", POINTER(mw_tensor)),
        ("input_lengths", POINTER(mw_tensor)), ("label_lengths", POINTER(mw_tensor)), ("blank", c_int64),
    ]),
    "mw_focal": (POINTER(mw_tensor), [
        ("logits", POINTER(mw_tensor)), ("labels", POINTER(mw_tensor)), ("gamma", c_float),
    ]),
    "mw_binary_focal": (POINTER(mw_tensor), [
        ("logits", POINTER(mw_tensor)), ("target", POINTER(mw_tensor)), ("alpha", c_float), ("gamma", c_float),
    ]),
    "mw_dice": (POINTER(mw_tensor), [
        ("y", POINTER(mw_tensor)), ("target", POINTER(mw_tensor)), ("axes", mw_axes), ("smooth", c_float),
    ]),
    "mw_poisson_nll": (POINTER(mw_tensor), [("log_mean", POINTER(mw_tensor)), ("target", POINTER(mw_tensor))]),
    "mw_pinball": (POINTER(mw_tensor), [("y", POINTER(mw_tensor)), ("target", POINTER(mw_tensor)), ("q", c_float)]),
    "mw_metrics_defaults": (mw_metrics_options, []),
    "mw_metrics_create": (POINTER(mw_metrics), [
        ("path", c_char_p), ("options", POINTER(mw_metrics_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_metrics_write": (c_int, [
        ("metrics", POINTER(mw_metrics)), ("kind", c_char_p), ("step", c_int64),
        ("fields", POINTER(mw_metrics_field)), ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_metrics_destroy": (None, [("metrics", POINTER(mw_metrics))]),
    "mw_graph_open_mil": (POINTER(mw_graph), [
        ("path", c_char_p), ("options", POINTER(mw_graph_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_graph_parse_mil": (POINTER(mw_graph), [
        ("text", c_char_p), ("size", c_size_t), ("folder", c_char_p), ("options", POINTER(mw_graph_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_mil_snippet": (c_int, [
        ("graph", POINTER(mw_graph)), ("text", c_char_p), ("inputs", POINTER(POINTER(mw_tensor))),
        ("input_count", c_size_t), ("out_results", POINTER(POINTER(mw_tensor))), ("result_count", c_size_t),
    ]),
    "mw_graph_verify": (c_int, [("graph", POINTER(mw_graph)), ("err", POINTER(mw_error))]),
    "mw_graph_print_mil": (POINTER(c_char), [
        ("graph", POINTER(mw_graph)), ("options", POINTER(mw_write_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_model_defaults": (mw_model_options, []),
    "mw_model_open": (POINTER(mw_model), [
        ("path", c_char_p), ("options", POINTER(mw_model_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_model_create": (POINTER(mw_model), [
        ("graph", POINTER(mw_graph)), ("options", POINTER(mw_model_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_model_destroy": (None, [("model", POINTER(mw_model))]),
    "mw_model_get_info": (mw_model_info, [("model", POINTER(mw_model))]),
    "mw_model_port_at": (c_bool, [("model", POINTER(mw_model)), ("index", c_size_t), ("out", POINTER(mw_port))]),
    "mw_model_result_shape": (c_int, [
        ("model", POINTER(mw_model)), ("result", c_char_p), ("examples", c_int64), ("out", POINTER(mw_shape)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_model_classes": (c_int, [
        ("model", POINTER(mw_model)), ("result", c_char_p), ("out", POINTER(mw_classes)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_model_write": (c_int, [
        ("model", POINTER(mw_model)), ("path", c_char_p), ("options", POINTER(mw_write_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_export": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("source", POINTER(mw_graph)), ("path", c_char_p),
        ("options", POINTER(mw_write_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_predictor_create": (POINTER(mw_predictor), [("model", POINTER(mw_model)), ("err", POINTER(mw_error))]),
    "mw_predictor_destroy": (None, [("predictor", POINTER(mw_predictor))]),
    "mw_predictor_predict": (c_int, [
        ("predictor", POINTER(mw_predictor)), ("batch", POINTER(mw_batch)), ("results", POINTER(mw_result)),
        ("result_count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_model_predict": (c_int, [
        ("model", POINTER(mw_model)), ("batch", POINTER(mw_batch)), ("results", POINTER(mw_result)),
        ("result_count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_predictor_set_shapes": (c_int, [
        ("predictor", POINTER(mw_predictor)), ("shapes", POINTER(mw_input_shape)), ("count", c_size_t),
        ("err", POINTER(mw_error)),
    ]),
    "mw_predictor_reset": (c_int, [("predictor", POINTER(mw_predictor)), ("err", POINTER(mw_error))]),
    "mw_predictor_read": (c_int, [
        ("predictor", POINTER(mw_predictor)), ("state", c_char_p), ("dtype", c_int), ("out_data", c_void_p),
        ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_predictor_write": (c_int, [
        ("predictor", POINTER(mw_predictor)), ("state", c_char_p), ("dtype", c_int), ("data", c_void_p),
        ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_onnx_defaults": (mw_onnx_options, []),
    "mw_graph_open_onnx": (POINTER(mw_graph), [
        ("path", c_char_p), ("options", POINTER(mw_onnx_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_relu": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_sigmoid": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_silu": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_gelu": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("mode", c_int)]),
    "mw_relu6": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_leaky_relu": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", c_float)]),
    "mw_prelu": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", POINTER(mw_tensor))]),
    "mw_clamped_relu": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", c_float), ("beta", c_float)]),
    "mw_thresholded_relu": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", c_float)]),
    "mw_elu": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", c_float)]),
    "mw_softplus": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_softplus_parametric": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("alpha", POINTER(mw_tensor)), ("beta", POINTER(mw_tensor)),
    ]),
    "mw_softsign": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_scaled_tanh": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", c_float), ("beta", c_float)]),
    "mw_sigmoid_hard": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", c_float), ("beta", c_float)]),
    "mw_linear_activation": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", c_float), ("beta", c_float)]),
    "mw_scaled_dot_product_attention": (POINTER(mw_tensor), [
        ("query", POINTER(mw_tensor)), ("key", POINTER(mw_tensor)), ("value", POINTER(mw_tensor)),
        ("mask", POINTER(mw_tensor)),
    ]),
    "mw_multi_head_attention_layer": (POINTER(mw_tensor), [
        ("query", POINTER(mw_tensor)), ("key", POINTER(mw_tensor)), ("value", POINTER(mw_tensor)),
        ("heads", c_int64), ("mask", POINTER(mw_tensor)), ("name", c_char_p),
    ]),
    "mw_equal": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_not_equal": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_less": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_less_equal": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_greater": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_greater_equal": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_logical_and": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_logical_or": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_logical_xor": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_logical_not": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_select": (POINTER(mw_tensor), [
        ("cond", POINTER(mw_tensor)), ("a", POINTER(mw_tensor)), ("b", POINTER(mw_tensor)),
    ]),
    "mw_while_loop": (c_int, [
        ("vars", POINTER(POINTER(mw_tensor))), ("count", c_size_t), ("condition", mw_loop_condition),
        ("body", mw_loop_body), ("user", c_void_p), ("out_vars", POINTER(POINTER(mw_tensor))),
    ]),
    "mw_cond": (c_int, [
        ("pred", POINTER(mw_tensor)), ("yes", mw_branch), ("no", mw_branch), ("user", c_void_p),
        ("out_results", POINTER(POINTER(mw_tensor))), ("count", c_size_t),
    ]),
    "mw_make_list": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("element", mw_shape), ("length", c_int64),
        ("dynamic", c_bool),
    ]),
    "mw_list_write": (POINTER(mw_tensor), [
        ("list", POINTER(mw_tensor)), ("index", POINTER(mw_tensor)), ("value", POINTER(mw_tensor)),
    ]),
    "mw_list_read": (POINTER(mw_tensor), [("list", POINTER(mw_tensor)), ("index", POINTER(mw_tensor))]),
    "mw_list_gather": (POINTER(mw_tensor), [("list", POINTER(mw_tensor)), ("indices", POINTER(mw_tensor))]),
    "mw_list_scatter": (POINTER(mw_tensor), [
        ("list", POINTER(mw_tensor)), ("indices", POINTER(mw_tensor)), ("value", POINTER(mw_tensor)),
    ]),
    "mw_list_length": (POINTER(mw_tensor), [("list", POINTER(mw_tensor))]),
    "mw_classify": (c_int, [
        ("probabilities", POINTER(mw_tensor)), ("classes", POINTER(mw_classes)),
        ("out_label", POINTER(POINTER(mw_tensor))), ("out_probabilities", POINTER(POINTER(mw_tensor))),
    ]),
    "mw_conv_defaults": (mw_conv_options, []),
    "mw_conv": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("weight", POINTER(mw_tensor)), ("bias", POINTER(mw_tensor)),
        ("options", POINTER(mw_conv_options)),
    ]),
    "mw_conv_transpose": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("weight", POINTER(mw_tensor)), ("bias", POINTER(mw_tensor)),
        ("options", POINTER(mw_conv_options)),
    ]),
    "mw_conv_layer": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("channels", c_int64), ("kernel", mw_shape), ("name", c_char_p),
        ("options", POINTER(mw_conv_options)),
    ]),
    "mw_conv_transpose_layer": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("channels", c_int64), ("kernel", mw_shape), ("name", c_char_p),
        ("options", POINTER(mw_conv_options)),
    ]),
    "mw_add": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_sub": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_mul": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_real_div": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_floor_div": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_mod": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_maximum": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_minimum": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_pow": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor))]),
    "mw_add_scalar": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("value", c_double)]),
    "mw_mul_scalar": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("value", c_double)]),
    "mw_neg": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_abs": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_sign": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_square": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_sqrt": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_rsqrt": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("epsilon", c_float)]),
    "mw_inverse": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("epsilon", c_float)]),
    "mw_log": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("epsilon", c_float)]),
    "mw_exp": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_erf": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_tanh": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_exp2": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_floor": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_ceil": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_round": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_sin": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_cos": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_tan": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_asin": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_acos": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_atan": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_sinh": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_cosh": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_atanh": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_threshold": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", c_float)]),
    "mw_clip": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("alpha", c_float), ("beta", c_float)]),
    "mw_cast": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("dtype", c_int)]),
    "mw_one_hot": (POINTER(mw_tensor), [
        ("indices", POINTER(mw_tensor)), ("size", c_int64), ("axis", c_int), ("dtype", c_int), ("on", c_double),
        ("off", c_double),
    ]),
    "mw_gather": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("indices", POINTER(mw_tensor)), ("axis", c_int)]),
    "mw_gather_along_axis": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("indices", POINTER(mw_tensor)), ("axis", c_int),
    ]),
    "mw_gather_nd": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("indices", POINTER(mw_tensor)), ("batch_dims", c_int),
    ]),
    "mw_scatter": (POINTER(mw_tensor), [
        ("data", POINTER(mw_tensor)), ("indices", POINTER(mw_tensor)), ("updates", POINTER(mw_tensor)),
        ("axis", c_int), ("mode", c_int),
    ]),
    "mw_scatter_along_axis": (POINTER(mw_tensor), [
        ("data", POINTER(mw_tensor)), ("indices", POINTER(mw_tensor)), ("updates", POINTER(mw_tensor)),
        ("axis", c_int), ("mode", c_int),
    ]),
    "mw_scatter_nd": (POINTER(mw_tensor), [
        ("data", POINTER(mw_tensor)), ("indices", POINTER(mw_tensor)), ("updates", POINTER(mw_tensor)),
        ("mode", c_int),
    ]),
    "mw_non_zero": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_embedding": (POINTER(mw_tensor), [
        ("indices", POINTER(mw_tensor)), ("count", c_int64), ("dim", c_int64), ("name", c_char_p),
    ]),
    "mw_upsample_nearest_neighbor": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("scale_height", c_float), ("scale_width", c_float),
    ]),
    "mw_upsample_bilinear": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("scale_height", c_float), ("scale_width", c_float), ("align_corners", c_bool),
    ]),
    "mw_resize_nearest_neighbor": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("height", c_int64), ("width", c_int64),
    ]),
    "mw_resize_bilinear": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("height", c_int64), ("width", c_int64), ("sampling", c_int),
    ]),
    "mw_resize": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("height", c_int64), ("width", c_int64), ("interpolation", c_int),
        ("sampling", c_int),
    ]),
    "mw_crop": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("top", c_int64), ("bottom", c_int64), ("left", c_int64), ("right", c_int64),
    ]),
    "mw_layer_create": (POINTER(mw_layer), [
        ("graph", POINTER(mw_graph)), ("name", c_char_p), ("function", mw_layer_function), ("user", c_void_p),
    ]),
    "mw_layer_apply": (POINTER(mw_tensor), [
        ("layer", POINTER(mw_layer)), ("x", POINTER(POINTER(mw_tensor))), ("count", c_size_t),
    ]),
    "mw_layer_apply_one": (POINTER(mw_tensor), [("layer", POINTER(mw_layer)), ("x", POINTER(mw_tensor))]),
    "mw_layer_dense": (POINTER(mw_layer), [("graph", POINTER(mw_graph)), ("units", c_int64), ("name", c_char_p)]),
    "mw_layer_conv": (POINTER(mw_layer), [
        ("graph", POINTER(mw_graph)), ("channels", c_int64), ("kernel", mw_shape), ("name", c_char_p),
        ("options", POINTER(mw_conv_options)),
    ]),
    "mw_layer_embedding": (POINTER(mw_layer), [
        ("graph", POINTER(mw_graph)), ("count", c_int64), ("dim", c_int64), ("name", c_char_p),
    ]),
    "mw_layer_layer_norm": (POINTER(mw_layer), [
        ("graph", POINTER(mw_graph)), ("axis_count", c_int), ("epsilon", c_float), ("name", c_char_p),
    ]),
    "mw_layer_batch_norm": (POINTER(mw_layer), [
        ("graph", POINTER(mw_graph)), ("momentum", c_float), ("epsilon", c_float), ("name", c_char_p),
    ]),
    "mw_matmul": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("y", POINTER(mw_tensor)), ("transposes", c_uint)]),
    "mw_einsum": (POINTER(mw_tensor), [("a", POINTER(mw_tensor)), ("b", POINTER(mw_tensor)), ("equation", c_char_p)]),
    "mw_contract": (POINTER(mw_tensor), [
        ("equation", c_char_p), ("operands", POINTER(POINTER(mw_tensor))), ("count", c_size_t),
    ]),
    "mw_linear": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("weight", POINTER(mw_tensor)), ("bias", POINTER(mw_tensor)),
    ]),
    "mw_dense": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("units", c_int64), ("name", c_char_p)]),
    "mw_softmax": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axis", c_int)]),
    "mw_log_softmax": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axis", c_int)]),
    "mw_layer_norm": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("axes", mw_axes), ("gamma", POINTER(mw_tensor)), ("beta", POINTER(mw_tensor)),
        ("epsilon", c_float),
    ]),
    "mw_instance_norm": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("gamma", POINTER(mw_tensor)), ("beta", POINTER(mw_tensor)),
        ("epsilon", c_float),
    ]),
    "mw_group_norm": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("groups", c_int64), ("gamma", POINTER(mw_tensor)), ("beta", POINTER(mw_tensor)),
        ("epsilon", c_float),
    ]),
    "mw_rms_norm": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("axes", mw_axes), ("weight", POINTER(mw_tensor)), ("epsilon", c_float),
    ]),
    "mw_l2_norm": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("epsilon", c_float)]),
    "mw_batch_norm": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("mean", POINTER(mw_tensor)), ("variance", POINTER(mw_tensor)),
        ("gamma", POINTER(mw_tensor)), ("beta", POINTER(mw_tensor)), ("epsilon", c_float),
    ]),
    "mw_local_response_norm": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("size", c_int), ("alpha", c_float), ("beta", c_float), ("k", c_float),
    ]),
    "mw_layer_norm_layer": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("axis_count", c_int), ("epsilon", c_float), ("name", c_char_p),
    ]),
    "mw_rms_norm_layer": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("axis_count", c_int), ("epsilon", c_float), ("name", c_char_p),
    ]),
    "mw_group_norm_layer": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("groups", c_int64), ("epsilon", c_float), ("name", c_char_p),
    ]),
    "mw_instance_norm_layer": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("epsilon", c_float), ("name", c_char_p),
    ]),
    "mw_batch_norm_layer": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("momentum", c_float), ("epsilon", c_float), ("name", c_char_p),
    ]),
    "mw_operation_at": (c_bool, [("index", c_size_t), ("out", POINTER(mw_operation))]),
    "mw_operation_argument_at": (c_bool, [
        ("index", c_size_t), ("argument", c_size_t), ("out", POINTER(mw_operation_argument)),
    ]),
    "mw_pool_defaults": (mw_pool_options, [("kernel", mw_shape)]),
    "mw_max_pool": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("options", POINTER(mw_pool_options))]),
    "mw_avg_pool": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("options", POINTER(mw_pool_options))]),
    "mw_l2_pool": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("options", POINTER(mw_pool_options))]),
    "mw_quantize": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("scale", POINTER(mw_tensor)), ("zero_point", POINTER(mw_tensor)),
        ("axis", c_int), ("dtype", c_int),
    ]),
    "mw_dequantize": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("scale", POINTER(mw_tensor)), ("zero_point", POINTER(mw_tensor)),
        ("axis", c_int),
    ]),
    "mw_fake_quantize": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("scale", POINTER(mw_tensor)), ("zero_point", POINTER(mw_tensor)),
        ("axis", c_int), ("dtype", c_int),
    ]),
    "mw_constexpr_blockwise_shift_scale": (POINTER(mw_tensor), [
        ("data", POINTER(mw_tensor)), ("scale", POINTER(mw_tensor)), ("offset", POINTER(mw_tensor)),
    ]),
    "mw_constexpr_lut_to_dense": (POINTER(mw_tensor), [
        ("indices", POINTER(mw_tensor)), ("lut", POINTER(mw_tensor)), ("vector_axis", c_int),
    ]),
    "mw_constexpr_sparse_to_dense": (POINTER(mw_tensor), [
        ("nonzero_data", POINTER(mw_tensor)), ("mask", POINTER(mw_tensor)),
    ]),
    "mw_random_normal": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("shape", mw_shape), ("mean", c_float), ("stddev", c_float),
        ("seed", c_int32),
    ]),
    "mw_random_uniform": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("shape", mw_shape), ("low", c_float), ("high", c_float),
        ("seed", c_int32),
    ]),
    "mw_random_bernoulli": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("shape", mw_shape), ("prob", c_float), ("seed", c_int32),
    ]),
    "mw_random_categorical": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("mode", c_int), ("size", c_int64), ("seed", c_int32),
    ]),
    "mw_dropout": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("p", c_float), ("name", c_char_p)]),
    "mw_noise_normal": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("shape", mw_shape), ("mean", c_float), ("stddev", c_float),
        ("name", c_char_p),
    ]),
    "mw_noise_uniform": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("shape", mw_shape), ("low", c_float), ("high", c_float),
        ("name", c_char_p),
    ]),
    "mw_noise_bernoulli": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("shape", mw_shape), ("prob", c_float), ("name", c_char_p),
    ]),
    "mw_recurrent_defaults": (mw_recurrent_options, []),
    "mw_lstm": (mw_recurrent, [
        ("x", POINTER(mw_tensor)), ("h", POINTER(mw_tensor)), ("c", POINTER(mw_tensor)),
        ("weights", POINTER(mw_recurrent_weights)), ("options", POINTER(mw_recurrent_options)),
    ]),
    "mw_gru": (mw_recurrent, [
        ("x", POINTER(mw_tensor)), ("h", POINTER(mw_tensor)), ("weights", POINTER(mw_recurrent_weights)),
        ("options", POINTER(mw_recurrent_options)),
    ]),
    "mw_rnn": (mw_recurrent, [
        ("x", POINTER(mw_tensor)), ("h", POINTER(mw_tensor)), ("weights", POINTER(mw_recurrent_weights)),
        ("options", POINTER(mw_recurrent_options)),
    ]),
    "mw_recurrent_layer_defaults": (mw_recurrent_layer_options, []),
    "mw_lstm_layer": (mw_recurrent, [
        ("x", POINTER(mw_tensor)), ("hidden", c_int64), ("name", c_char_p),
        ("options", POINTER(mw_recurrent_layer_options)),
    ]),
    "mw_gru_layer": (mw_recurrent, [
        ("x", POINTER(mw_tensor)), ("hidden", c_int64), ("name", c_char_p),
        ("options", POINTER(mw_recurrent_layer_options)),
    ]),
    "mw_reduce_sum": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool)]),
    "mw_reduce_mean": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool)]),
    "mw_reduce_max": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool)]),
    "mw_reduce_min": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool)]),
    "mw_reduce_log_sum_exp": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool),
    ]),
    "mw_reduce_prod": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool)]),
    "mw_reduce_sum_square": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool)]),
    "mw_reduce_l1_norm": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool)]),
    "mw_reduce_l2_norm": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool)]),
    "mw_reduce_log_sum": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes), ("keep_dims", c_bool)]),
    "mw_reduce_argmax": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axis", c_int), ("keep_dims", c_bool)]),
    "mw_reduce_argmin": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axis", c_int), ("keep_dims", c_bool)]),
    "mw_cumsum": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("axis", c_int), ("exclusive", c_bool), ("reverse", c_bool),
    ]),
    "mw_resample_defaults": (mw_resample_options, []),
    "mw_resample": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("coordinates", POINTER(mw_tensor)), ("options", POINTER(mw_resample_options)),
    ]),
    "mw_affine": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("transform_matrix", POINTER(mw_tensor)), ("height", c_int64),
        ("width", c_int64), ("align_corners", c_bool),
    ]),
    "mw_crop_resize_defaults": (mw_crop_resize_options, []),
    "mw_crop_resize": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("boxes", POINTER(mw_tensor)), ("indices", POINTER(mw_tensor)),
        ("height", c_int64), ("width", c_int64), ("options", POINTER(mw_crop_resize_options)),
    ]),
    "mw_identity": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_reshape": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("shape", mw_shape)]),
    "mw_flatten2d": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axis", c_int)]),
    "mw_transpose": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("perm", mw_axes)]),
    "mw_expand_dims": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes)]),
    "mw_squeeze": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes)]),
    "mw_concat": (POINTER(mw_tensor), [("values", POINTER(POINTER(mw_tensor))), ("count", c_size_t), ("axis", c_int)]),
    "mw_stack": (POINTER(mw_tensor), [("values", POINTER(POINTER(mw_tensor))), ("count", c_size_t), ("axis", c_int)]),
    "mw_split": (c_int, [
        ("x", POINTER(mw_tensor)), ("count", c_size_t), ("axis", c_int), ("out_parts", POINTER(POINTER(mw_tensor))),
    ]),
    "mw_split_sizes": (c_int, [
        ("x", POINTER(mw_tensor)), ("sizes", POINTER(c_int64)), ("count", c_size_t), ("axis", c_int),
        ("out_parts", POINTER(POINTER(mw_tensor))),
    ]),
    "mw_slice_by_index": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("slices", POINTER(mw_slice))]),
    "mw_slice_by_size": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("begin", POINTER(c_int64)), ("size", POINTER(c_int64)),
    ]),
    "mw_slice_by_size_at": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("begin", POINTER(mw_tensor)), ("size", POINTER(c_int64)),
    ]),
    "mw_slice_update": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("update", POINTER(mw_tensor)), ("slices", POINTER(mw_slice)),
    ]),
    "mw_slice_update_at": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("update", POINTER(mw_tensor)), ("begin", POINTER(mw_tensor)),
    ]),
    "mw_reverse": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axes", mw_axes)]),
    "mw_reverse_sequence": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("lengths", POINTER(mw_tensor)), ("seq_axis", c_int), ("batch_axis", c_int),
    ]),
    "mw_sliding_windows": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("axis", c_int), ("size", c_int64), ("stride", c_int64),
    ]),
    "mw_band_part": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("lower", c_int64), ("upper", c_int64)]),
    "mw_tile": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("reps", mw_shape)]),
    "mw_pad": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("pad", POINTER(c_int64)), ("axes", c_int), ("mode", c_int), ("value", c_float),
    ]),
    "mw_fill": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("shape", mw_shape), ("value", c_double),
    ]),
    "mw_fill_like": (POINTER(mw_tensor), [("ref", POINTER(mw_tensor)), ("dtype", c_int), ("value", c_double)]),
    "mw_shape_of": (POINTER(mw_tensor), [("x", POINTER(mw_tensor))]),
    "mw_range_1d": (POINTER(mw_tensor), [
        ("graph", POINTER(mw_graph)), ("dtype", c_int), ("start", c_double), ("end", c_double), ("step", c_double),
    ]),
    "mw_argsort": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("axis", c_int), ("ascending", c_bool)]),
    "mw_topk": (c_int, [
        ("x", POINTER(mw_tensor)), ("k", c_int64), ("axis", c_int), ("ascending", c_bool),
        ("out_values", POINTER(POINTER(mw_tensor))), ("out_indices", POINTER(POINTER(mw_tensor))),
    ]),
    "mw_non_maximum_suppression_defaults": (mw_non_maximum_suppression_options, []),
    "mw_non_maximum_suppression": (c_int, [
        ("boxes", POINTER(mw_tensor)), ("scores", POINTER(mw_tensor)), ("max_boxes", c_int64),
        ("options", POINTER(mw_non_maximum_suppression_options)), ("out_boxes", POINTER(POINTER(mw_tensor))),
        ("out_scores", POINTER(POINTER(mw_tensor))), ("out_indices", POINTER(POINTER(mw_tensor))),
        ("out_counts", POINTER(POINTER(mw_tensor))),
    ]),
    "mw_depth_to_space": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("block", c_int64)]),
    "mw_space_to_depth": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("block", c_int64)]),
    "mw_pixel_shuffle": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("factor", c_int64)]),
    "mw_pixel_unshuffle": (POINTER(mw_tensor), [("x", POINTER(mw_tensor)), ("factor", c_int64)]),
    "mw_space_to_batch": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("block", POINTER(c_int64)), ("paddings", POINTER(c_int64)),
    ]),
    "mw_batch_to_space": (POINTER(mw_tensor), [
        ("x", POINTER(mw_tensor)), ("block", POINTER(c_int64)), ("crops", POINTER(c_int64)),
    ]),
    "mw_sgd": (mw_optimizer, [("learning_rate", c_float)]),
    "mw_sgd_momentum": (mw_optimizer, [("learning_rate", c_float), ("momentum", c_float), ("nesterov", c_bool)]),
    "mw_adam": (mw_optimizer, [("learning_rate", c_float)]),
    "mw_adamw": (mw_optimizer, [("learning_rate", c_float), ("weight_decay", c_float)]),
    "mw_rmsprop": (mw_optimizer, [("learning_rate", c_float)]),
    "mw_adagrad": (mw_optimizer, [("learning_rate", c_float)]),
    "mw_lion": (mw_optimizer, [("learning_rate", c_float), ("weight_decay", c_float)]),
    "mw_muon": (mw_optimizer, [("learning_rate", c_float), ("weight_decay", c_float)]),
    "mw_optimizer_set": (c_bool, [("optimizer", POINTER(mw_optimizer)), ("number", c_int), ("value", c_double)]),
    "mw_optimizer_get": (c_double, [("optimizer", POINTER(mw_optimizer)), ("number", c_int)]),
    "mw_optimizer_name": (c_char_p, [("optimizer", POINTER(mw_optimizer))]),
    "mw_optimizer_number_at": (c_bool, [
        ("optimizer", POINTER(mw_optimizer)), ("index", c_size_t), ("out", POINTER(mw_optimizer_number_info)),
    ]),
    "mw_optimizer_rule_defaults": (mw_optimizer_rule, [("name", c_char_p), ("update", mw_update_function)]),
    "mw_optimizer_custom": (mw_optimizer, [("learning_rate", c_float), ("rule", POINTER(mw_optimizer_rule))]),
    "mw_update_call_scalar": (POINTER(mw_tensor), [("call", POINTER(mw_update_call)), ("name", c_char_p)]),
    "mw_example_norms": (POINTER(mw_tensor), [("dx", POINTER(POINTER(mw_tensor))), ("count", c_size_t)]),
    "mw_clip_examples": (c_int, [
        ("dx", POINTER(POINTER(mw_tensor))), ("count", c_size_t), ("limit", c_double),
        ("out_sums", POINTER(POINTER(mw_tensor))), ("err", POINTER(mw_error)),
    ]),
    "mw_program_create": (POINTER(mw_program), [
        ("graph", POINTER(mw_graph)), ("options", POINTER(mw_compile_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_program_destroy": (None, [("program", POINTER(mw_program))]),
    "mw_program_set_shapes": (c_int, [
        ("program", POINTER(mw_program)), ("shapes", POINTER(mw_input_shape)), ("count", c_size_t),
        ("err", POINTER(mw_error)),
    ]),
    "mw_program_write": (c_int, [
        ("program", POINTER(mw_program)), ("port", c_char_p), ("dtype", c_int), ("data", c_void_p),
        ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_program_read": (c_int, [
        ("program", POINTER(mw_program)), ("port", c_char_p), ("dtype", c_int), ("out_data", c_void_p),
        ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_program_view": (c_void_p, [("program", POINTER(mw_program)), ("port", c_char_p), ("err", POINTER(mw_error))]),
    "mw_program_set_weights": (c_int, [
        ("program", POINTER(mw_program)), ("values", POINTER(mw_weight_values)), ("count", c_size_t),
        ("err", POINTER(mw_error)),
    ]),
    "mw_program_run": (c_int, [("program", POINTER(mw_program)), ("err", POINTER(mw_error))]),
    "mw_program_alias": (c_int, [
        ("program", POINTER(mw_program)), ("output", c_char_p), ("input", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_program_port_at": (c_bool, [
        ("program", POINTER(mw_program)), ("index", c_size_t), ("out_port", POINTER(mw_port)),
    ]),
    "mw_program_classes": (c_int, [
        ("program", POINTER(mw_program)), ("port", c_char_p), ("out", POINTER(mw_classes)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_program_label": (c_int, [
        ("program", POINTER(mw_program)), ("port", c_char_p), ("out", POINTER(mw_label)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_program_warning_at": (c_bool, [
        ("program", POINTER(mw_program)), ("index", c_size_t), ("out_warning", POINTER(mw_warning)),
    ]),
    "mw_program_get_info": (mw_program_info, [("program", POINTER(mw_program))]),
    "mw_program_placement_at": (c_bool, [
        ("program", POINTER(mw_program)), ("index", c_size_t), ("out", POINTER(mw_placement)),
    ]),
    "mw_schedule_constant": (mw_schedule, []),
    "mw_schedule_step": (mw_schedule, [("period", c_int64), ("gamma", c_double)]),
    "mw_schedule_cosine": (mw_schedule, [("floor", c_double)]),
    "mw_schedule_linear": (mw_schedule, [("end", c_double)]),
    "mw_schedule_one_cycle": (mw_schedule, [
        ("rise", c_double), ("start_divisor", c_double), ("end_divisor", c_double),
    ]),
    "mw_schedule_custom": (mw_schedule, [("function", mw_schedule_function), ("user", c_void_p)]),
    "mw_schedule_factor": (c_double, [("schedule", POINTER(mw_schedule)), ("step", c_int64), ("steps", c_int64)]),
    "mw_scores_create": (POINTER(mw_scores), [
        ("task", c_int), ("columns", c_int64), ("names", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_scores_add": (c_int, [
        ("scores", POINTER(mw_scores)), ("batch", POINTER(mw_score_batch)), ("err", POINTER(mw_error)),
    ]),
    "mw_scores_add_text": (c_int, [
        ("scores", POINTER(mw_scores)), ("reference", c_char_p), ("text", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_scores_count": (c_size_t, [("scores", POINTER(mw_scores))]),
    "mw_scores_get": (mw_score, [("scores", POINTER(mw_scores)), ("index", c_size_t)]),
    "mw_scores_destroy": (None, [("scores", POINTER(mw_scores))]),
    "mw_score_name": (c_char_p, [("task", c_int), ("index", c_size_t)]),
    "mw_error_clear": (None, [("err", POINTER(mw_error))]),
    "mw_status_name": (c_char_p, [("status", c_int)]),
    "mw_log_set": (None, [("function", mw_log_function), ("user", c_void_p)]),
    "mw_thread_hooks_set": (c_int, [("hooks", POINTER(mw_thread_hooks)), ("err", POINTER(mw_error))]),
    "mw_version": (c_char_p, []),
    "mw_table_encoder_fit": (POINTER(mw_table_encoder), [
        ("options", POINTER(mw_table_fit_options)), ("out_training", POINTER(POINTER(mw_dataset))),
        ("out_validation", POINTER(POINTER(mw_dataset))), ("err", POINTER(mw_error)),
    ]),
    "mw_table_encoder_open": (POINTER(mw_dataset), [
        ("encoder", POINTER(mw_table_encoder)), ("path", c_char_p), ("form", POINTER(mw_table_form)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_table_encoder_open_inputs": (POINTER(mw_dataset), [
        ("encoder", POINTER(mw_table_encoder)), ("path", c_char_p), ("form", POINTER(mw_table_form)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_table_encoder_width": (c_int64, [("encoder", POINTER(mw_table_encoder))]),
    "mw_table_encoder_field_at": (c_bool, [
        ("encoder", POINTER(mw_table_encoder)), ("index", c_size_t), ("out", POINTER(mw_encoded_field)),
    ]),
    "mw_table_encoder_target": (mw_encoded_target, [("encoder", POINTER(mw_table_encoder))]),
    "mw_table_encoder_target_at": (c_bool, [
        ("encoder", POINTER(mw_table_encoder)), ("index", c_size_t), ("out", POINTER(mw_encoded_target)),
    ]),
    "mw_table_encoder_window": (mw_table_window, [("encoder", POINTER(mw_table_encoder))]),
    "mw_table_encoder_layer": (POINTER(mw_tensor), [
        ("encoder", POINTER(mw_table_encoder)), ("x", POINTER(mw_tensor)), ("name", c_char_p),
    ]),
    "mw_table_encoder_unscale": (POINTER(mw_tensor), [
        ("encoder", POINTER(mw_table_encoder)), ("y", POINTER(mw_tensor)),
    ]),
    "mw_table_encoder_print": (POINTER(c_char), [("encoder", POINTER(mw_table_encoder)), ("err", POINTER(mw_error))]),
    "mw_table_encoder_write": (POINTER(c_char), [("encoder", POINTER(mw_table_encoder)), ("err", POINTER(mw_error))]),
    "mw_table_encoder_retarget": (POINTER(mw_table_encoder), [
        ("encoder", POINTER(mw_table_encoder)), ("path", c_char_p), ("form", POINTER(mw_table_form)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_table_encoder_read": (POINTER(mw_table_encoder), [("text", c_char_p), ("err", POINTER(mw_error))]),
    "mw_table_encoder_destroy": (None, [("encoder", POINTER(mw_table_encoder))]),
    "mw_table_fit_defaults": (mw_table_fit_options, [("path", c_char_p), ("target", c_char_p)]),
    "mw_table_stream_defaults": (mw_table_stream_options, [
        ("path", c_char_p), ("function", mw_table_rows_function), ("user", c_void_p),
    ]),
    "mw_table_encoder_stream": (c_int, [
        ("encoder", POINTER(mw_table_encoder)), ("options", POINTER(mw_table_stream_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_tensors_open": (POINTER(mw_tensors), [("path", c_char_p), ("err", POINTER(mw_error))]),
    "mw_tensors_destroy": (None, [("tensors", POINTER(mw_tensors))]),
    "mw_tensors_get_info": (mw_tensors_info, [("tensors", POINTER(mw_tensors))]),
    "mw_tensors_at": (POINTER(mw_tensor_info), [("tensors", POINTER(mw_tensors)), ("index", c_size_t)]),
    "mw_tensors_find": (POINTER(mw_tensor_info), [("tensors", POINTER(mw_tensors)), ("name", c_char_p)]),
    "mw_tensors_note_at": (POINTER(mw_tensors_note), [("tensors", POINTER(mw_tensors)), ("index", c_size_t)]),
    "mw_tensors_note_find": (c_char_p, [("tensors", POINTER(mw_tensors)), ("key", c_char_p)]),
    "mw_tensors_read_array": (c_int, [
        ("tensors", POINTER(mw_tensors)), ("key", c_char_p), ("out", POINTER(mw_tensors_array)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_tensors_left_out_at": (POINTER(mw_tensors_note), [("tensors", POINTER(mw_tensors)), ("index", c_size_t)]),
    "mw_tensors_read": (c_int, [
        ("tensors", POINTER(mw_tensors)), ("name", c_char_p), ("dtype", c_int), ("out", c_void_p),
        ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_tensors_constant": (POINTER(mw_tensor), [
        ("tensors", POINTER(mw_tensors)), ("name", c_char_p), ("dtype", c_int), ("graph", POINTER(mw_graph)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_tensors_write": (c_int, [
        ("path", c_char_p), ("tensors", POINTER(mw_tensor_values)), ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_tensors_convert": (c_int, [
        ("tensors", POINTER(mw_tensors)), ("path", c_char_p), ("dtype", c_int), ("err", POINTER(mw_error)),
    ]),
    "mw_tensors_average": (c_int, [
        ("paths", POINTER(c_char_p)), ("count", c_size_t), ("path", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_text_data_defaults": (mw_text_data_options, []),
    "mw_text_data_open": (POINTER(mw_text_data), [
        ("path", c_char_p), ("folder", c_char_p), ("options", POINTER(mw_text_data_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_text_data_destroy": (None, [("data", POINTER(mw_text_data))]),
    "mw_text_data_training": (POINTER(mw_dataset), [("data", POINTER(mw_text_data))]),
    "mw_text_data_validation": (POINTER(mw_dataset), [("data", POINTER(mw_text_data))]),
    "mw_text_data_get_info": (mw_text_data_info, [("data", POINTER(mw_text_data))]),
    "mw_text_data_write": (c_int, [
        ("paths", POINTER(c_char_p)), ("count", c_size_t), ("folder", c_char_p), ("out", c_char_p),
        ("options", POINTER(mw_text_data_options)), ("out_info", POINTER(mw_text_data_info)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_text_config_defaults": (mw_text_config, [("family", c_char_p)]),
    "mw_text_config_read": (c_int, [("path", c_char_p), ("out", POINTER(mw_text_config)), ("err", POINTER(mw_error))]),
    "mw_text_graph_defaults": (mw_text_graph_options, []),
    "mw_text_graph": (POINTER(mw_graph), [
        ("config", POINTER(mw_text_config)), ("options", POINTER(mw_text_graph_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_text_model_defaults": (mw_text_model_options, []),
    "mw_text_model_open": (POINTER(mw_text_model), [
        ("folder", c_char_p), ("options", POINTER(mw_text_model_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_text_model_destroy": (None, [("model", POINTER(mw_text_model))]),
    "mw_text_model_get_config": (POINTER(mw_text_config), [("model", POINTER(mw_text_model))]),
    "mw_text_model_get_tokenizer": (POINTER(mw_tokenizer), [("model", POINTER(mw_text_model))]),
    "mw_generate_defaults": (mw_generate_options, []),
    "mw_text_model_generate": (POINTER(c_char), [
        ("model", POINTER(mw_text_model)), ("prompt", c_char_p), ("options", POINTER(mw_generate_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_text_model_generate_each": (c_int, [
        ("model", POINTER(mw_text_model)), ("prompts", POINTER(c_char_p)), ("count", c_size_t),
        ("options", POINTER(mw_generate_options)), ("out_texts", POINTER(c_char_p)), ("err", POINTER(mw_error)),
    ]),
    "mw_embed_defaults": (mw_embed_options, []),
    "mw_text_model_embed": (c_int, [
        ("model", POINTER(mw_text_model)), ("texts", POINTER(c_char_p)), ("count", c_size_t),
        ("options", POINTER(mw_embed_options)), ("out", POINTER(c_float)), ("err", POINTER(mw_error)),
    ]),
    "mw_text_save_defaults": (mw_text_save_options, []),
    "mw_text_save": (c_int, [
        ("source", c_char_p), ("path", c_char_p), ("options", POINTER(mw_text_save_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_text_load_weights": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("source", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_text_save_trained": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("source", c_char_p), ("path", c_char_p),
        ("options", POINTER(mw_text_save_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_tokenizer_open": (POINTER(mw_tokenizer), [("path", c_char_p), ("err", POINTER(mw_error))]),
    "mw_tokenizer_destroy": (None, [("tokenizer", POINTER(mw_tokenizer))]),
    "mw_tokenizer_get_info": (mw_tokenizer_info, [("tokenizer", POINTER(mw_tokenizer))]),
    "mw_tokenizer_id": (c_int32, [("tokenizer", POINTER(mw_tokenizer)), ("text", c_char_p)]),
    "mw_tokenizer_text": (c_char_p, [
        ("tokenizer", POINTER(mw_tokenizer)), ("id", c_int32), ("size", POINTER(c_size_t)),
    ]),
    "mw_tokenizer_is_special": (c_bool, [("tokenizer", POINTER(mw_tokenizer)), ("id", c_int32)]),
    "mw_tokens_destroy": (None, [("tokens", POINTER(mw_tokens))]),
    "mw_encode_defaults": (mw_encode_options, []),
    "mw_tokenizer_encode": (c_int, [
        ("tokenizer", POINTER(mw_tokenizer)), ("text", c_char_p), ("size", c_size_t),
        ("options", POINTER(mw_encode_options)), ("out", POINTER(mw_tokens)), ("err", POINTER(mw_error)),
    ]),
    "mw_tokenizer_decode": (POINTER(c_char), [
        ("tokenizer", POINTER(mw_tokenizer)), ("ids", POINTER(c_int32)), ("count", c_size_t),
        ("keep_special", c_bool), ("out_size", POINTER(c_size_t)), ("err", POINTER(mw_error)),
    ]),
    "mw_token_stream_create": (POINTER(mw_token_stream), [
        ("tokenizer", POINTER(mw_tokenizer)), ("err", POINTER(mw_error)),
    ]),
    "mw_token_stream_destroy": (None, [("stream", POINTER(mw_token_stream))]),
    "mw_token_stream_push": (c_char_p, [
        ("stream", POINTER(mw_token_stream)), ("id", c_int32), ("err", POINTER(mw_error)),
    ]),
    "mw_token_stream_finish": (c_char_p, [("stream", POINTER(mw_token_stream))]),
    "mw_tokenizer_train_defaults": (mw_tokenizer_train_options, []),
    "mw_tokenizer_train": (c_int, [
        ("text", c_char_p), ("size", c_size_t), ("options", POINTER(mw_tokenizer_train_options)),
        ("path", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_create": (POINTER(mw_trainer), [("options", POINTER(mw_trainer_options)), ("err", POINTER(mw_error))]),
    "mw_trainer_destroy": (None, [("trainer", POINTER(mw_trainer))]),
    "mw_trainer_step": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("batch", POINTER(mw_batch)), ("out_loss", POINTER(c_float)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_step_many": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("batches", POINTER(mw_batch)), ("count", c_size_t),
        ("out_losses", POINTER(c_float)), ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_set_learning_rate": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("learning_rate", c_float), ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_use_averages": (c_int, [("trainer", POINTER(mw_trainer)), ("use", c_bool), ("err", POINTER(mw_error))]),
    "mw_trainer_classes": (mw_classes, [("trainer", POINTER(mw_trainer)), ("column", c_char_p)]),
    "mw_trainer_predict": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("batch", POINTER(mw_batch)), ("dtype", c_int), ("out_data", c_void_p),
        ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_read": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("parameter", c_char_p), ("dtype", c_int), ("out_data", c_void_p),
        ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_write": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("parameter", c_char_p), ("dtype", c_int), ("data", c_void_p),
        ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_get_info": (mw_trainer_info, [("trainer", POINTER(mw_trainer))]),
    "mw_trainer_warning_at": (c_bool, [
        ("trainer", POINTER(mw_trainer)), ("index", c_size_t), ("out_warning", POINTER(mw_warning)),
    ]),
    "mw_trainer_program": (POINTER(mw_program), [("trainer", POINTER(mw_trainer))]),
    "mw_trainer_save": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("path", c_char_p), ("position", POINTER(mw_loader_position)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_load": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("path", c_char_p), ("out_position", POINTER(mw_loader_position)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_parameter_group_defaults": (mw_parameter_group, [("pattern", c_char_p)]),
    "mw_parameter_group_frozen": (mw_parameter_group, [("pattern", c_char_p)]),
    "mw_parameter_group_set": (c_bool, [
        ("group", POINTER(mw_parameter_group)), ("number", c_int), ("value", c_double),
    ]),
    "mw_trainer_defaults": (mw_trainer_options, [("loss", POINTER(mw_tensor)), ("optimizer", mw_optimizer)]),
    "mw_graph_weights": (c_int, [
        ("graph", POINTER(mw_graph)), ("out_weights", POINTER(mw_weight)), ("capacity", c_size_t),
        ("out_count", POINTER(c_size_t)), ("err", POINTER(mw_error)),
    ]),
    "mw_graph_input_at": (POINTER(mw_tensor), [("graph", POINTER(mw_graph)), ("index", c_size_t)]),
    "mw_graph_output_at": (POINTER(mw_tensor), [("graph", POINTER(mw_graph)), ("index", c_size_t)]),
    "mw_tune_defaults": (mw_tune_options, [("patterns", POINTER(c_char_p)), ("count", c_size_t)]),
    "mw_graph_trainable": (POINTER(mw_graph), [
        ("source", POINTER(mw_graph)), ("options", POINTER(mw_tune_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_lora_defaults": (mw_lora_options, [("patterns", POINTER(c_char_p)), ("count", c_size_t)]),
    "mw_graph_lora": (POINTER(mw_graph), [
        ("source", POINTER(mw_graph)), ("options", POINTER(mw_lora_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_shape_scalar": (mw_shape, []),
    "mw_shape_count": (c_int64, [("shape", mw_shape)]),
    "mw_shape_equal": (c_bool, [("a", mw_shape), ("b", mw_shape)]),
    "mw_dtype_name": (c_char_p, [("dtype", c_int)]),
    "mw_dtype_bits": (c_int, [("dtype", c_int)]),
    "mw_watch_tensor": (mw_watch, [("tensor", POINTER(mw_tensor)), ("name", c_char_p), ("kind", c_int)]),
    "mw_watch_parameters": (mw_watch, [("of", c_int), ("pattern", c_char_p), ("kind", c_int)]),
    "mw_trainer_watch_at": (c_bool, [
        ("trainer", POINTER(mw_trainer)), ("index", c_size_t), ("out_watched", POINTER(mw_watched)),
    ]),
    "mw_trainer_watch_values": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("index", c_size_t), ("dtype", c_int), ("out_data", c_void_p),
        ("count", c_size_t), ("err", POINTER(mw_error)),
    ]),
    "mw_weights_defaults": (mw_weights_options, []),
    "mw_trainer_save_weights": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("path", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_save_lora": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("folder", c_char_p), ("err", POINTER(mw_error)),
    ]),
    "mw_trainer_load_weights": (c_int, [
        ("trainer", POINTER(mw_trainer)), ("path", c_char_p), ("options", POINTER(mw_weights_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_program_load_weights": (c_int, [
        ("program", POINTER(mw_program)), ("path", c_char_p), ("options", POINTER(mw_weights_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_graph_load_weights": (POINTER(mw_graph), [
        ("source", POINTER(mw_graph)), ("path", c_char_p), ("options", POINTER(mw_weights_options)),
        ("err", POINTER(mw_error)),
    ]),
    "mw_compress_defaults": (mw_compress_options, [("form", c_int)]),
    "mw_graph_compress": (POINTER(mw_graph), [
        ("graph", POINTER(mw_graph)), ("options", POINTER(mw_compress_options)), ("err", POINTER(mw_error)),
    ]),
    "mw_write_defaults": (mw_write_options, []),
    "mw_graph_write": (c_int, [
        ("graph", POINTER(mw_graph)), ("path", c_char_p), ("options", POINTER(mw_write_options)),
        ("err", POINTER(mw_error)),
    ]),
}

# Functions of libraries beside the core, by the names of the libraries.
BESIDE = {
    "data": {
        "mw_app_defaults", "mw_graph_for_app", "mw_app_image_feature", "mw_dataset_subset", "mw_dataset_shard",
        "mw_dataset_concatenate", "mw_dataset_sample", "mw_divide_defaults", "mw_dataset_divide", "mw_dataset_zip",
        "mw_dataset_map", "mw_map_example_uniform", "mw_augment_defaults", "mw_dataset_augment", "mw_mix_defaults",
        "mw_dataset_mix", "mw_normalize_defaults", "mw_dataset_normalize", "mw_window_defaults",
        "mw_dataset_window", "mw_dataset_open_idx", "mw_table_defaults", "mw_dataset_open_csv",
        "mw_dataset_open_jsonl", "mw_dataset_open_tensors", "mw_image_defaults", "mw_dataset_open_images",
        "mw_dataset_open_image_files", "mw_sound_defaults", "mw_dataset_open_sounds", "mw_dataset_open_sound_files",
        "mw_sound_change_defaults", "mw_dataset_change_sounds", "mw_log_mel_defaults", "mw_log_mel",
        "mw_table_encoder_fit", "mw_table_encoder_open", "mw_table_encoder_open_inputs", "mw_table_encoder_width",
        "mw_table_encoder_field_at", "mw_table_encoder_target", "mw_table_encoder_target_at",
        "mw_table_encoder_window", "mw_table_encoder_layer", "mw_table_encoder_unscale", "mw_table_encoder_print",
        "mw_table_encoder_write", "mw_table_encoder_retarget", "mw_table_encoder_read", "mw_table_encoder_destroy",
        "mw_table_fit_defaults", "mw_table_stream_defaults", "mw_table_encoder_stream", "mw_tensors_convert",
        "mw_tensors_average",
    },
    "learn": {
        "mw_normalize", "mw_cosine_embedding", "mw_triplet", "mw_info_nce", "mw_nt_xent", "mw_ctc", "mw_focal",
        "mw_binary_focal", "mw_dice", "mw_poisson_nll", "mw_pinball", "mw_example_norms", "mw_clip_examples",
        "mw_scores_create", "mw_scores_add", "mw_scores_add_text", "mw_scores_count", "mw_scores_get",
        "mw_scores_destroy", "mw_score_name",
    },
    "ranks": {
        "mw_transport_defaults", "mw_communicator_create", "mw_communicator_finish", "mw_communicator_destroy",
        "mw_communicator_set_timeout", "mw_communicator_barrier", "mw_communicator_broadcast",
        "mw_communicator_gather", "mw_communicator_allreduce", "mw_communicator_fail", "mw_communicator_abort",
        "mw_communicator_get_info",
    },
    "text": {
        "mw_text_data_defaults", "mw_text_data_open", "mw_text_data_destroy", "mw_text_data_training",
        "mw_text_data_validation", "mw_text_data_get_info", "mw_text_data_write", "mw_text_config_defaults",
        "mw_text_config_read", "mw_text_graph_defaults", "mw_text_graph", "mw_text_model_defaults",
        "mw_text_model_open", "mw_text_model_destroy", "mw_text_model_get_config", "mw_text_model_get_tokenizer",
        "mw_generate_defaults", "mw_text_model_generate", "mw_text_model_generate_each", "mw_embed_defaults",
        "mw_text_model_embed", "mw_text_save_defaults", "mw_text_save", "mw_text_load_weights",
        "mw_text_save_trained", "mw_tokenizer_open", "mw_tokenizer_destroy", "mw_tokenizer_get_info",
        "mw_tokenizer_id", "mw_tokenizer_text", "mw_tokenizer_is_special", "mw_tokens_destroy",
        "mw_encode_defaults", "mw_tokenizer_encode", "mw_tokenizer_decode", "mw_token_stream_create",
        "mw_token_stream_destroy", "mw_token_stream_push", "mw_token_stream_finish", "mw_tokenizer_train_defaults",
        "mw_tokenizer_train",
    },
}

# Enums of fields and parameters, which ctypes knows as integers.
ENUMS = {
    ("mw_app_image", "layout"): mw_image_layout,
    ("mw_compile_options", "device"): mw_device,
    ("mw_compile_options", "provider"): mw_provider,
    ("mw_compile_options", "chip"): mw_chip,
    ("mw_column", "dtype"): mw_dtype,
    ("mw_feed", "dtype"): mw_dtype,
    ("mw_table_column", "dtype"): mw_dtype,
    ("mw_tensor_column", "dtype"): mw_dtype,
    ("mw_image_options", "fit"): mw_image_fit,
    ("mw_image_options", "broken"): mw_broken,
    ("mw_sound_options", "place"): mw_sound_place,
    ("mw_sound_options", "broken"): mw_broken,
    ("mw_feature", "kind"): mw_feature_kind,
    ("mw_feature", "dtype"): mw_dtype,
    ("mw_feature", "layout"): mw_image_layout,
    ("mw_feature", "admits"): mw_admission,
    ("mw_fit_summary", "end"): mw_fit_end,
    ("mw_admitted_shapes", "kind"): mw_admission,
    ("mw_graph_options", "opset"): mw_opset,
    ("mw_log_mel_options", "scale"): mw_mel_scale,
    ("mw_metrics_options", "format"): mw_metrics_format,
    ("mw_result", "dtype"): mw_dtype,
    ("mw_onnx_options", "opset"): mw_opset,
    ("mw_conv_options", "pad_type"): mw_pad_type,
    ("mw_operation", "since"): mw_opset,
    ("mw_operation", "gradient"): mw_operation_gradient,
    ("mw_pool_options", "pad_type"): mw_pad_type,
    ("mw_recurrent_options", "direction"): mw_direction,
    ("mw_recurrent_options", "recurrent_activation"): mw_activation,
    ("mw_recurrent_options", "cell_activation"): mw_activation,
    ("mw_recurrent_options", "activation"): mw_activation,
    ("mw_resample_options", "interpolation"): mw_interpolation_mode,
    ("mw_resample_options", "border"): mw_border,
    ("mw_resample_options", "coordinates"): mw_coordinates,
    ("mw_crop_resize_options", "box"): mw_box,
    ("mw_crop_resize_options", "sampling"): mw_sampling_mode,
    ("mw_optimizer_number_info", "number"): mw_optimizer_number,
    ("mw_update_parameter", "dtype"): mw_dtype,
    ("mw_weight_values", "dtype"): mw_dtype,
    ("mw_port", "dtype"): mw_dtype,
    ("mw_placement", "device"): mw_device,
    ("mw_schedule", "kind"): mw_schedule_kind,
    ("mw_error", "status"): mw_status,
    ("mw_encoded_field", "kind"): mw_field_kind,
    ("mw_encoded_target", "kind"): mw_target_kind,
    ("mw_field_setting", "kind"): mw_field_kind,
    ("mw_field_setting", "missing"): mw_missing_rule,
    ("mw_field_setting", "elements"): mw_sequence_elements,
    ("mw_table_form", "encoding"): mw_text_encoding,
    ("mw_table_fit_options", "target_kind"): mw_target_kind,
    ("mw_table_fit_options", "target_scale"): mw_target_scale,
    ("mw_table_fit_options", "split"): mw_split_rule,
    ("mw_tensor_info", "dtype"): mw_dtype,
    ("mw_tensor_values", "dtype"): mw_dtype,
    ("mw_text_graph_options", "weights"): mw_dtype,
    ("mw_text_model_options", "weights"): mw_dtype,
    ("mw_embed_options", "pooling"): mw_pooling,
    ("mw_trainer_ranks", "wire"): mw_wire,
    ("mw_weight", "dtype"): mw_dtype,
    ("mw_weight", "role"): mw_weight_role,
    ("mw_tune_choice", "outcome"): mw_tune_outcome,
    ("mw_tune_options", "dtype"): mw_dtype,
    ("mw_lora_options", "dtype"): mw_dtype,
    ("mw_watched", "of"): mw_watch_of,
    ("mw_watched", "kind"): mw_watch_kind,
    ("mw_weights_choice", "outcome"): mw_weights_outcome,
    ("mw_compress_choice", "dtype"): mw_dtype,
    ("mw_compress_options", "form"): mw_weight_form,
    ("mw_write_options", "opset"): mw_opset,
    ("mw_communicator_allreduce", "dtype"): mw_dtype,
    ("mw_input", "dtype"): mw_dtype,
    ("mw_parameter", "dtype"): mw_dtype,
    ("mw_state", "dtype"): mw_dtype,
    ("mw_constant", "dtype"): mw_dtype,
    ("mw_scalar", "dtype"): mw_dtype,
    ("mw_predictor_read", "dtype"): mw_dtype,
    ("mw_predictor_write", "dtype"): mw_dtype,
    ("mw_gelu", "mode"): mw_gelu_mode,
    ("mw_make_list", "dtype"): mw_dtype,
    ("mw_cast", "dtype"): mw_dtype,
    ("mw_one_hot", "dtype"): mw_dtype,
    ("mw_scatter", "mode"): mw_scatter_mode,
    ("mw_scatter_along_axis", "mode"): mw_scatter_mode,
    ("mw_scatter_nd", "mode"): mw_scatter_mode,
    ("mw_resize_bilinear", "sampling"): mw_sampling_mode,
    ("mw_resize", "interpolation"): mw_interpolation_mode,
    ("mw_resize", "sampling"): mw_sampling_mode,
    ("mw_quantize", "dtype"): mw_dtype,
    ("mw_fake_quantize", "dtype"): mw_dtype,
    ("mw_random_normal", "dtype"): mw_dtype,
    ("mw_random_uniform", "dtype"): mw_dtype,
    ("mw_random_bernoulli", "dtype"): mw_dtype,
    ("mw_random_categorical", "mode"): mw_categorical_mode,
    ("mw_noise_normal", "dtype"): mw_dtype,
    ("mw_noise_uniform", "dtype"): mw_dtype,
    ("mw_noise_bernoulli", "dtype"): mw_dtype,
    ("mw_pad", "mode"): mw_pad_mode,
    ("mw_fill", "dtype"): mw_dtype,
    ("mw_fill_like", "dtype"): mw_dtype,
    ("mw_range_1d", "dtype"): mw_dtype,
    ("mw_optimizer_set", "number"): mw_optimizer_number,
    ("mw_optimizer_get", "number"): mw_optimizer_number,
    ("mw_program_write", "dtype"): mw_dtype,
    ("mw_program_read", "dtype"): mw_dtype,
    ("mw_scores_create", "task"): mw_score_task,
    ("mw_score_name", "task"): mw_score_task,
    ("mw_status_name", "status"): mw_status,
    ("mw_tensors_read", "dtype"): mw_dtype,
    ("mw_tensors_constant", "dtype"): mw_dtype,
    ("mw_tensors_convert", "dtype"): mw_dtype,
    ("mw_trainer_predict", "dtype"): mw_dtype,
    ("mw_trainer_read", "dtype"): mw_dtype,
    ("mw_trainer_write", "dtype"): mw_dtype,
    ("mw_parameter_group_set", "number"): mw_parameter_group_number,
    ("mw_dtype_name", "dtype"): mw_dtype,
    ("mw_dtype_bits", "dtype"): mw_dtype,
    ("mw_watch_tensor", "kind"): mw_watch_kind,
    ("mw_watch_parameters", "of"): mw_watch_of,
    ("mw_watch_parameters", "kind"): mw_watch_kind,
    ("mw_trainer_watch_values", "dtype"): mw_dtype,
    ("mw_compress_defaults", "form"): mw_weight_form,
}

-- The tables of a database of rocprofv3, as far as tests need them; names end in a process.
create table "rocpd_metadata{{uuid}}" (id integer primary key, tag text, value text);
create table "rocpd_string{{uuid}}" (id integer primary key, guid text default 'g', string text);
create table "rocpd_info_node{{uuid}}" (id integer primary key, guid text default 'g', hash, machine_id text, system_name text, hostname text, release text);
create table "rocpd_info_process{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, command text);
create table "rocpd_info_thread{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, tid, name text);
create table "rocpd_info_agent{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, type text, absolute_index, logical_index, type_index, name text, model_name text, product_name text);
create table "rocpd_info_queue{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, name text);
create table "rocpd_info_stream{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, name text);
create table "rocpd_info_kernel_symbol{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, code_object_id, kernel_name text, display_name text);
create table "rocpd_info_pmc{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, agent_id, name text, symbol text, units text);
create table "rocpd_event{{uuid}}" (id integer primary key autoincrement, guid text default '0198c0de-0000-7000-8000-00000000c0de', category_id, stack_id, parent_stack_id, correlation_id, call_stack text default '{}', line_info text default '{}', extdata text default '{}');
create table "rocpd_kernel_dispatch{{uuid}}" (id integer primary key autoincrement, guid text default 'g', nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start bigint, end bigint, private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id, extdata text default '{}');
create table "rocpd_memory_copy{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, tid, start bigint, end bigint, name_id, dst_agent_id, src_agent_id, size, queue_id, stream_id, event_id);
create table "rocpd_region{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, tid, start bigint, end bigint, name_id, event_id);
create table "rocpd_track{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, tid, agent_id, queue_id, stream_id, name_id);
create table "rocpd_sample{{uuid}}" (id integer primary key, guid text default 'g', track_id, timestamp, event_id);
create table "rocpd_pmc_event{{uuid}}" (id integer primary key, guid text default 'g', event_id, pmc_id, value real);
create table "rocpd_memory_allocate{{uuid}}" (id integer primary key, guid text default 'g', nid, pid, tid, agent_id, type text, level text, start bigint, end bigint, address, size, event_id);

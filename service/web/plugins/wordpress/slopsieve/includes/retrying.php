<?php
/**
 * Retries failed requests with WP-Cron.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// The delay grows to a tenth of the time since the first failure.
const FIRST_RETRY_SECONDS = 5;
const LAST_RETRY_SECONDS  = 300;
const RETRY_SHARE         = 10;
const MOST_A_RUN    = 200;
const SECONDS_A_RUN = 40;

add_action( RETRY, __NAMESPACE__ . '\\retry' );
add_action( SWEEP, __NAMESPACE__ . '\\sweep' );

/** Schedule an hourly sweep, which finds comments of interrupted requests. */
function start_sweeping(): void {
	if ( ! wp_next_scheduled( SWEEP ) ) {
		wp_schedule_event( time() + HOUR_IN_SECONDS, 'hourly', SWEEP );
	}
}

/**
 * Start in one blog or in every blog of a network. A blog that is added later starts when it connects.
 *
 * @param bool $everywhere Whether it is for the whole network.
 */
function start( $everywhere = false ): void {
	$everywhere ? in_every_blog( __NAMESPACE__ . '\\start_sweeping' ) : start_sweeping();
}

/**
 * Stop in one blog or in every blog of a network.
 *
 * @param bool $everywhere Whether it is for the whole network.
 */
function stop( $everywhere = false ): void {
	$everywhere ? in_every_blog( __NAMESPACE__ . '\\stop_sweeping' ) : stop_sweeping();
}

/** Remove all schedules. */
function stop_sweeping(): void {
	wp_clear_scheduled_hook( RETRY );
	wp_clear_scheduled_hook( SWEEP );
}

/** Schedule a retry. */
function retry_soon(): void {
	if ( wp_next_scheduled( RETRY ) ) {
		return;
	}
	$since = (int) connection( 'away_since' );
	if ( ! $since ) {
		$since = time();
		keep_connection( array( 'away_since' => $since ) );
	}
	$seconds = intdiv( time() - $since, RETRY_SHARE );
	wp_schedule_single_event( time() + max( FIRST_RETRY_SECONDS, min( LAST_RETRY_SECONDS, $seconds ) ), RETRY );
}

/** Retry everything, and refresh the path of the form's script. */
function sweep(): void {
	if ( is_set_up() ) {
		read_form_script();
		retry();
	}
}

/**
 * Send what is left to send, and read missing verdicts.
 *
 * A single failure does not stop the others; an unavailable service ends the run.
 */
function retry(): void {
	if ( ! is_set_up() ) {
		return;
	}
	$until = time() + SECONDS_A_RUN;
	$done  = true;
	foreach ( what_is_left() as $one ) {
		if ( is_away() || time() >= $until ) {
			retry_soon();
			return;
		}
		if ( ! ( is_int( $one ) ? try_again( $one ) : withdraw( $one ) ) ) {
			keep_connection( array( 'failed' => $one ) );
			$done = false;
		}
	}
	if ( ! $done || waiting_ids( 1 ) || untold_ids( 1 ) ) {
		retry_soon();
	} elseif ( connection( 'away_since' ) ) {
		keep_connection( array( 'away_since' => 0 ) );
	}
}

/**
 * Return withdrawals, comments with a decision to send, and comments without a verdict, oldest first.
 *
 * The list starts after the last failure, which may only concern one comment, as with a firewall.
 *
 * @return array<int|string>
 */
function what_is_left(): array {
	$ids  = array_unique( array_map( 'intval', array_merge( untold_ids( 0 ), waiting_ids( 0 ) ) ) );
	$left = array_merge( get_option( WITHDRAWN, array() ), $ids );
	$at   = array_search( connection( 'failed' ), $left, true );
	return false === $at ? $left : array_merge( array_slice( $left, $at + 1 ), array_slice( $left, 0, $at + 1 ) );
}

/** Retry one comment; return true if that worked. */
function try_again( int $id ): bool {
	if ( WAITING !== get_comment_meta( $id, STATE, true ) ) {
		return agree( $id );
	}
	if ( time() - (int) get_comment_meta( $id, ASKED, true ) < BUSY_SECONDS ) {
		return true;
	}
	$concluded = ask_about( $id );
	if ( $concluded ) {
		// No e-mail was sent while it waited.
		wp_new_comment_notify_moderator( $id );
	}
	return null !== $concluded;
}

/** Return the ids of comments without a verdict. */
function waiting_ids( int $most ): array {
	return find_ids( $most, STATE, WAITING );
}

/** Return the ids of comments with a decision to send. */
function untold_ids( int $most ): array {
	return find_ids( $most, TELL, null );
}

/** Return the ids of comments of any status with this meta; all if `$most` is 0. */
function find_ids( int $most, string $key, ?string $value ): array {
	$query = array(
		'fields'                    => 'ids',
		'status'                    => 'any',
		'type'                      => '',
		'number'                    => $most,
		'orderby'                   => 'comment_ID',
		'order'                     => 'ASC',
		'update_comment_post_cache' => false,
		'meta_key'                  => $key, // phpcs:ignore WordPress.DB.SlowDBQuery.slow_db_query_meta_key -- Only used by WP-Cron and in the comments list.
	);
	if ( null !== $value ) {
		$query['meta_value'] = $value; // phpcs:ignore WordPress.DB.SlowDBQuery.slow_db_query_meta_value -- As above.
	}
	return get_comments( $query );
}

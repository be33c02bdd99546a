<?php
/**
 * Exports the blog's comments for an import, as WordPress's own export omits spam.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

const DOWNLOAD       = 'slopsieve_comments';
const COMMENTS_A_GO  = 500;
const STATUSES_MOVED = array(
	'1'    => 'approved',
	'spam' => 'spam',
	'0'    => '',
);

add_action( 'admin_post_' . DOWNLOAD, __NAMESPACE__ . '\\download_comments' );

/** Send the comments as JSON lines, oldest first. */
function download_comments(): void {
	if ( ! current_user_can( 'manage_options' ) ) {
		wp_die( esc_html__( 'You may not change this.', 'slopsieve' ), '', array( 'response' => 403 ) );
	}
	check_admin_referer( DOWNLOAD );
	nocache_headers();
	header( 'Content-Type: application/x-ndjson; charset=utf-8' );
	header( 'Content-Disposition: attachment; filename="comments.jsonl"' );
	header( 'X-Content-Type-Options: nosniff' );
	write_comments( fopen( 'php://output', 'w' ) );
	exit;
}

/**
 * Write the comments in batches, to limit memory.
 *
 * @param resource $file The file to write to.
 */
function write_comments( $file ): void {
	global $wpdb;
	$last = 0;
	do {
		$ids = $wpdb->get_col( // phpcs:ignore WordPress.DB.DirectDatabaseQuery -- WordPress has no function for comments after an id.
			$wpdb->prepare(
				"SELECT comment_ID FROM {$wpdb->comments} WHERE comment_ID > %d AND comment_approved IN ( '0', '1', 'spam' ) AND comment_type IN ( '', 'comment' ) ORDER BY comment_ID LIMIT %d",
				$last,
				COMMENTS_A_GO
			)
		);
		foreach ( $ids as $id ) {
			$comment = get_comment( (int) $id );
			fwrite( $file, wp_json_encode( as_moved( $comment ), JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE ) . "\n" ); // phpcs:ignore WordPress.WP.AlternativeFunctions -- The response.
			$last = (int) $id;
			clean_comment_cache( $last );
		}
	} while ( COMMENTS_A_GO === count( $ids ) );
}

/** Return a comment for an import, with the same id as in an import of WordPress's own export. */
function as_moved( \WP_Comment $comment ): array {
	$post   = post_of( $comment );
	$author = author_of( $comment );
	return array_filter(
		array(
			'text'            => text_of( $comment ),
			'site_comment_id' => 'wordpress:' . $comment->comment_ID,
			'status'          => STATUSES_MOVED[ $comment->comment_approved ] ?? '',
			'post_url'        => $post['url'] ?? '',
			'post_title'      => $post['title'] ?? '',
			'post_excerpt'    => $post['excerpt'] ?? '',
			'author_name'     => $author['name'] ?? '',
			'author_email'    => $author['email'] ?? '',
			'author_url'      => $author['url'] ?? '',
			'address'         => filter_var( $comment->comment_author_IP, FILTER_VALIDATE_IP ) ? $comment->comment_author_IP : '',
			'user_agent'      => $comment->comment_agent,
			'written_at'      => str_replace( ' ', 'T', $comment->comment_date_gmt ) . 'Z',
			'reply_to'        => $comment->comment_parent ? 'wordpress:' . $comment->comment_parent : '',
		)
	);
}
